const canvas = document.createElement("canvas");
box.append(canvas);
const plot = ReglScatterplot.createScatterplot({
  canvas, pointSize: 2, opacity: 0.5, colorBy: "valueA", pointColor: colours,
});
plot.draw({ x, y, z: code }, { zDataType: "categorical" }).then(done);
