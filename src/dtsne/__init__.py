"""dtsne."""
