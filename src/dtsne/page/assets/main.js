// Everything put together.

function showMessage(text) {
  byId("message").textContent = text;
  byId("message").hidden = false;
}

function listen(plot, tooltip, selection, drawScale, say) {
  plot.on("pointover", tooltip.show);
  plot.on("pointout", tooltip.hide);
  const select = (points) => {
    selection.set(points, { drawn: true });
    say(`${counted(points.length, "point")} selected`);
  };
  plot.on("select", ({ points }) => select(points));
  plot.on("deselect", () => select([]));
  plot.on("view", () => {
    tooltip.place();
    drawScale();
  });
  plot.surface().addEventListener("webglcontextlost", () => {
    showMessage("The browser took the drawing away. Reload the page to have it back.");
  });
}

async function start() {
  const data = await readData();
  byId("title").textContent = data.title;

  const say = (text) => { byId("status").textContent = text; };
  const plot = createPlot(data, byId("canvas"));
  const filters = createFilters(data);
  const tooltip = createTooltip(data, plot);
  const selection = createSelection(data, plot, tooltip, say);
  data.shown = data.maps[0].name;
  const legend = createLegend(data, plot, filters, selection, say);
  const arrived = (map) => {
    showReport(data, map);
    legend.follow();
    selection.show();
  };
  const slider = createSlider(data, plot, tooltip, arrived);
  showReport(data, data.maps[0]);
  createAppearance(data, plot, legend.paint);
  createSearch(data, filters, selection, say);
  createModes(plot);
  createTouch(plot, byId("plot"), byId("canvas"));
  listen(plot, tooltip, selection, slider.drawScale, say);

  await slider.moveTo(0);
  await plot.fit(null, { quick: true });
  createView(data, plot, filters, selection, slider.drawScale);
  say(plot.supported() ? counted(data.n, "point") : "Parts of WebGL are missing here; points may be drawn wrongly");

  // For scripts that look at the page from outside, such as its tests.
  window.dtsnePage = {
    screenPosition: plot.screenPosition,
    selected: () => selection.points().slice(),
    shown: () => filters.shown(),
  };
  performance.mark("dtsne-painted");
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  showMessage(error.message);
  console.error(error);
});
