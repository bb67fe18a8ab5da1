// Selected points: summed up, stepped through, exported.

function asCsv(ids) {
  const quoted = ids.map((id) => (/[",\r\n]/.test(id) ? `"${id.replaceAll('"', '""')}"` : id));
  return ["id", ...quoted].join("\r\n") + "\r\n";
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, as in many notebooks: the old way
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    if (!copied) throw new Error("The browser does not allow copying here; use CSV.");
  }
}

function createSelection(data, plot, tooltip, say) {
  let points = [];
  let step = -1; // which of them is looked at

  function show() {
    const some = points.length > 0;
    byId("selected-text").textContent = some
      ? `${counted(points.length, "point")} selected`
      : "Nothing selected. Draw a lasso, click a point, or search.";
    byId("selected-tools").hidden = !some;
    byId("stepper").hidden = points.length < 2;
    byId("step-text").textContent = step < 0 ? "one by one" : `${step + 1} of ${points.length}`;
    const looked = points.length === 1 ? points[0] : points[step];
    byId("selected-details").replaceChildren(
      ...(looked !== undefined ? pointDetails(data, looked) : some ? [selectionSummary(data, points)] : []),
    );
  }

  /** Take over what is selected; `drawn` says that the plot shows it already. */
  function set(newPoints, { drawn = false } = {}) {
    points = newPoints.slice().sort((a, b) => a - b);
    step = -1;
    plot.emphasise(points.length);
    if (!drawn) plot.select(points);
    show();
  }

  /** Bring a point that was searched for into view, and say what it is. */
  async function reveal(i) {
    await plot.reveal(i);
    tooltip.show(i);
  }

  function go(by) {
    if (points.length < 2) return;
    step = step < 0 && by < 0 ? points.length - 1 : (step + by + points.length) % points.length;
    show();
    plot.hover(points[step]);
    reveal(points[step]);
  }

  const ids = () => points.map(data.idOf);
  byId("export").onclick = () => {
    const name = data.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "map";
    download(`${name}-selection.csv`, asCsv(ids()));
    say(`${counted(points.length, "id")} downloaded`);
  };
  byId("copy").onclick = () => copyText(ids().join("\n")).then(
    () => say(`${counted(points.length, "id")} copied`),
    (error) => say(error.message),
  );
  byId("clear").onclick = () => {
    set([]);
    say("Nothing selected");
  };
  byId("previous").onclick = () => go(-1);
  byId("next").onclick = () => go(1);
  show();
  return { set, go, show, reveal, points: () => points };
}
