// Fingers on the map. The library knows mice alone: one finger is handed on as a mouse, which moves the
// map or draws the lasso; two zoom and move. A tap needs nothing, as browsers make it a click.

const TAP = 6; // pixels that a finger may move in a tap

function createTouch(plot, stage, canvas) {
  const fingers = new Map(); // by id: where they are, [x, y] on the screen
  let dragging = false; // one finger has moved, and the library was told of it

  function tell(type, [x, y]) {
    const held = { clientX: x, clientY: y, buttons: dragging && type !== "mouseup" ? 1 : 0, bubbles: true, cancelable: true };
    canvas.dispatchEvent(new MouseEvent(type, held));
  }

  function middle() {
    const [[ax, ay], [bx, by]] = [...fingers.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, apart: Math.hypot(ax - bx, ay - by) };
  }

  function endDrag(at) {
    if (dragging) tell("mouseup", at);
    dragging = false;
  }

  function drag(from, to) {
    if (!dragging && Math.hypot(to[0] - from[0], to[1] - from[1]) < TAP) return false;
    const begins = !dragging;
    dragging = true;
    if (begins) tell("mousedown", from);
    tell("mousemove", to);
    return true;
  }

  function pinch(id, to) {
    const before = middle();
    fingers.set(id, to);
    const after = middle();
    const { left, top } = canvas.getBoundingClientRect();
    plot.pinch(after.apart / Math.max(before.apart, 1), [before.x - left, before.y - top],
      [after.x - before.x, after.y - before.y]);
  }

  stage.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    if (fingers.size === 1) endDrag([...fingers.values()][0]);
    const at = [event.clientX, event.clientY];
    fingers.set(event.pointerId, at);
    // The library moves the map from where it last saw the mouse, and looks once in a frame.
    if (fingers.size === 1) tell("mousemove", at);
  });
  stage.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const to = [event.clientX, event.clientY];
    if (fingers.size === 2) pinch(event.pointerId, to);
    else if (fingers.size === 1 && drag(fingers.get(event.pointerId), to)) fingers.set(event.pointerId, to);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => {
      if (!fingers.delete(event.pointerId)) return;
      endDrag([event.clientX, event.clientY]);
    });
  }
}
