// Everything put together.

function showMessage(text) {
  byId("message").textContent = text;
  byId("message").hidden = false;
}

function listen(data, plot, selection, drawScale) {
  const hideTooltip = () => { byId("tooltip").hidden = true; };
  plot.on("pointover", (i) => showTooltip(data, plot, i));
  plot.on("pointout", hideTooltip);
  plot.on("select", ({ points }) => selection.set(points, { drawn: true }));
  plot.on("deselect", () => selection.set([], { drawn: true }));
  plot.on("view", () => {
    hideTooltip();
    drawScale();
  });
  plot.surface().addEventListener("webglcontextlost", () => {
    showMessage("The browser took the drawing away. Reload the page to have it back.");
  });
}

async function start() {
  const data = await readData();
  byId("title").textContent = data.title;
  showAccount(data);

  const say = (text) => { byId("status").textContent = text; };
  const plot = createPlot(data, byId("canvas"));
  const filters = createFilters(data);
  const selection = createSelection(data, plot, say);
  const slider = createSlider(data, plot);
  createAppearance(data, plot, createLegend(data, plot, filters, selection, say));
  createSearch(data, filters, selection, say);
  createModes(plot);
  listen(data, plot, selection, slider.drawScale);

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
