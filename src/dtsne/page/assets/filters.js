// Which points are shown. Filters of all columns hold together, whichever one gives the colours.

function createFilters(data) {
  const hidden = new Map(); // category → the groups that are not shown
  const ranges = new Map(); // number → the values between which points are shown

  const hiddenGroups = (column) => hidden.get(column) ?? new Set();

  function setHidden(column, groups) {
    if (groups.size) hidden.set(column, groups);
    else hidden.delete(column);
  }

  function toggle(column, group) {
    const groups = new Set(hiddenGroups(column));
    if (!groups.delete(group)) groups.add(group);
    setHidden(column, groups);
  }

  /** Show one group alone; again, and all are shown. */
  function isolate(column, group) {
    const others = Array.from({ length: missingGroup(column) + 1 }, (_, k) => k).filter((k) => k !== group);
    const groups = hiddenGroups(column);
    const alone = groups.size === others.length && !groups.has(group);
    setHidden(column, new Set(alone ? [] : others));
  }

  function setRange(column, low, high) {
    if (Number.isFinite(low) || Number.isFinite(high)) {
      ranges.set(column, [Number.isFinite(low) ? low : -Infinity, Number.isFinite(high) ? high : Infinity]);
    } else ranges.delete(column);
  }

  /** The points shown, or null where all are. */
  function shown() {
    if (!hidden.size && !ranges.size) return null;
    const keep = new Uint8Array(data.n).fill(1);
    for (const [column, gone] of hidden) {
      const groups = groupsOf(column);
      for (let i = 0; i < data.n; i++) if (gone.has(groups[i])) keep[i] = 0;
    }
    for (const [{ values }, [low, high]] of ranges) {
      for (let i = 0; i < data.n; i++) if (!(values[i] >= low && values[i] <= high)) keep[i] = 0;
    }
    const points = [];
    for (let i = 0; i < data.n; i++) if (keep[i]) points.push(i);
    return points;
  }

  /** Those of some points that are shown. */
  function visible(points) {
    const kept = shown();
    if (!kept) return points;
    const set = new Set(kept);
    return points.filter((i) => set.has(i));
  }

  return {
    toggle, isolate, setRange, shown, visible,
    isHidden: (column, group) => hiddenGroups(column).has(group),
    range: (column) => ranges.get(column) ?? [-Infinity, Infinity],
    columns: () => [...new Set([...hidden.keys(), ...ranges.keys()])].map((column) => column.name),
    clear: () => { hidden.clear(); ranges.clear(); },
  };
}
