const position = new Float32Array(2 * n);
const colour = new Uint8Array(4 * n);
for (let i = 0; i < n; i++) {
  position[2 * i] = 500 * x[i];
  position[2 * i + 1] = 500 * y[i];
  colour.set([...channels[code[i]], 128], 4 * i);
}
const attributes = {
  getPosition: { value: position, size: 2 }, getFillColor: { value: colour, size: 4 },
};
new deck.Deck({
  parent: box,
  controller: true,
  views: new deck.OrthographicView(),
  initialViewState: { target: [0, 0, 0], zoom: -0.5 },
  layers: [new deck.ScatterplotLayer({
    id: "points", radiusUnits: "pixels", getRadius: 1, pickable: true, data: { length: n, attributes },
  })],
  onAfterRender: done,
});
