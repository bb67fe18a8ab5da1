new EmbeddingAtlas.EmbeddingView(box, {
  data: { x, y, category: code },
  categoryColors: colours,
  width: innerWidth,
  height: innerHeight,
  config: { mode: "points", pointSize: 2, autoLabelEnabled: false },
});
// It does not say when it has drawn; this is sooner than that, if anything.
requestAnimationFrame(() => requestAnimationFrame(done));
