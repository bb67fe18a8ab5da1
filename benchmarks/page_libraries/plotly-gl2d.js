const marker = { size: 2, opacity: 0.5, color: Array.from(code, (c) => colours[c]) };
Plotly.newPlot(
  box,
  [{ type: "scattergl", mode: "markers", x, y, marker }],
  { dragmode: "pan", yaxis: { scaleanchor: "x" }, margin: { t: 0, b: 0, l: 0, r: 0 } },
  { scrollZoom: true, displayModeBar: false },
).then(done);
