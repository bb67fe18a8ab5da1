// The slider between maps, and the scale bar, which is that of the map it stands at.

function nameOfPlace(maps, at) {
  const k = Math.floor(at);
  const percent = Math.round(100 * (at - k));
  return percent ? `${percent} % from ${maps[k].name} to ${maps[k + 1].name}` : maps[k].name;
}

function createSlider(data, plot, tooltip, arrived) {
  const { maps } = data;
  let at = 0;
  let glide = 0; // the newest; those before it have ended

  function drawScale() {
    showScale(plot.pixelsPerUnit(), Number.isInteger(at) ? maps[at].unit : null);
  }

  /** Move all points to a place between maps; `moving` says that more will follow at once. */
  function moveTo(place, { moving = false } = {}) {
    at = place;
    tooltip.hide();
    byId("between").value = place;
    byId("between").setAttribute("aria-valuetext", nameOfPlace(maps, place));
    [...byId("map-names").children].forEach((button, k) => {
      button.setAttribute("aria-pressed", String(k === place));
    });
    drawScale();
    const nearest = maps[Math.round(place)];
    if (data.shown !== nearest.name) {
      data.shown = nearest.name;
      arrived(nearest);
    }
    return plot.place(place, { moving });
  }

  function glideTo(place) {
    const from = at;
    const own = ++glide;
    const begin = performance.now();
    const duration = calm() ? 0 : 700;
    const frame = () => {
      if (own !== glide) return null;
      const t = duration ? (performance.now() - begin) / duration : 1;
      if (t >= 1) return moveTo(place);
      requestAnimationFrame(frame);
      return moveTo(from + (place - from) * t * t * (3 - 2 * t), { moving: true });
    };
    frame();
  }

  function slideTo(place, options) {
    glide++; // ends one that is under way
    return moveTo(place, options);
  }

  byId("slide").hidden = maps.length < 2;
  byId("between").max = maps.length - 1;
  byId("between").oninput = (event) => slideTo(Number(event.target.value), { moving: true });
  byId("between").onchange = (event) => slideTo(Number(event.target.value));
  byId("map-names").append(...maps.map((map, k) =>
    make("button", { type: "button", text: map.name, onclick: () => glideTo(k) })));
  return { moveTo, drawScale };
}
