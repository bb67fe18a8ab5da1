"""Help pages in plain text: options under headings, each with its help beside it.

Those that Typer draws with rich leave a narrow column for the help of fifty options, and take
longer to draw than all else.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from dtsne.cli._usage import UsageError

_OTHERS = "Options"


class PlainCommand(TyperCommand):
    """A command whose options are listed by panel."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Have every error know which command it is about."""
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                others = "Arguments" if is_argument else _OTHERS
                panel = getattr(parameter, "rich_help_panel", None) or others
                panels.setdefault(panel, []).append(record)
        # Those of no panel come last.
        for panel in sorted(panels, key=lambda panel: panel == _OTHERS):
            with formatter.section(panel):
                formatter.write_dl(panels[panel])
