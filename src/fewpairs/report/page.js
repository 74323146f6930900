"use strict";
// Everything that moves on the page. Texts of items are inserted as texts, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = (id) => document.getElementById(id);

  // ---------------------------------------------------------------- data

  function unpacked(text, Kind) {
    if (text === null) return null;
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
    return new Kind(bytes.buffer);
  }

  const texts = data.texts, names = data.names, count = texts.length;
  const places = unpacked(data.map, Uint16Array);
  const left = unpacked(data.links.left, Uint32Array), right = unpacked(data.links.right, Uint32Array);
  const approximate = unpacked(data.links.approximate, Float32Array);
  const exact = unpacked(data.links.exact, Float32Array);
  const labels = data.labels && unpacked(data.labels.of, Uint32Array);
  const links = linksOfItems();

  // The links of item i are links.of[links.first[i]] to links.of[links.first[i + 1] - 1].
  function linksOfItems() {
    const first = new Uint32Array(count + 1);
    for (let k = 0; k < left.length; k++) {
      first[left[k] + 1]++;
      if (data.links.both) first[right[k] + 1]++;
    }
    for (let i = 0; i < count; i++) first[i + 1] += first[i];
    const next = first.slice(), of = new Uint32Array(first[count]);
    for (let k = 0; k < left.length; k++) {
      of[next[left[k]]++] = k;
      if (data.links.both) of[next[right[k]]++] = k;
    }
    return { first, of };
  }

  const linked = (item) => links.of.subarray(links.first[item], links.first[item + 1]);
  const otherEnd = (link, item) => (left[link] === item ? right[link] : left[link]);
  const isExact = (link) => exact !== null && !Number.isNaN(exact[link]);
  const score = (link) => (isExact(link) ? exact[link] : approximate[link]);

  function number(value) {
    const size = Math.abs(value);
    return size !== 0 && (size < 0.001 || size >= 1e6) ? value.toExponential(2) : value.toFixed(size < 100 ? 3 : 1);
  }

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // ---------------------------------------------------------------- what differs between two texts

  const WORDS = /\s*[\p{L}\p{N}]+|\s*[^\p{L}\p{N}\s]|\s+/gu;
  const MOST_CELLS = 160000, LEAST_COMMON = 0.2;

  // Two lists of [text, whether it is marked].
  function differences(one, other) {
    const a = one.match(WORDS) || [], b = other.match(WORDS) || [];
    let start = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start++;
    let endA = a.length, endB = b.length;
    while (endA > start && endB > start && a[endA - 1].trim() === b[endB - 1].trim()) { endA--; endB--; }
    const n = endA - start, m = endB - start;
    if (n * m > MOST_CELLS) return [[[one, false]], [[other, false]]];
    const same = (i, j) => a[start + i].trim() === b[start + j].trim();
    const longest = new Uint16Array((n + 1) * (m + 1));
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        longest[i * (m + 1) + j] = same(i, j)
          ? longest[(i + 1) * (m + 1) + j + 1] + 1
          : Math.max(longest[(i + 1) * (m + 1) + j], longest[i * (m + 1) + j + 1]);
      }
    }
    const out = [[], []];
    const plain = (x, y) => { out[0].push([x, false]); out[1].push([y, false]); };
    plain(a.slice(0, start).join(""), b.slice(0, start).join(""));
    let i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && same(i, j)) { plain(a[start + i++], b[start + j++]); continue; }
      let x = "", y = "";
      while ((i < n || j < m) && !(i < n && j < m && same(i, j))) {
        const down = i < n && (j === m || longest[(i + 1) * (m + 1) + j] >= longest[i * (m + 1) + j + 1]);
        if (down) x += a[start + i++]; else y += b[start + j++];
      }
      changed(x, y, out);
    }
    plain(a.slice(endA).join(""), b.slice(endB).join(""));
    // Two texts that have next to nothing in common would be marked from end to end.
    const common = out[0].reduce((sum, [part, different]) => sum + (different ? 0 : part.length), 0);
    return common < LEAST_COMMON * Math.max(one.length, other.length) ? [[[one, false]], [[other, false]]] : out;
  }

  // Of two different stretches, what both begin and end with is not marked, if it is half of them.
  function changed(x, y, out) {
    const blank = (text) => text.length - text.trimStart().length;
    const skip = Math.min(blank(x), blank(y));
    let begin = skip, end = 0;
    const most = Math.min(x.length, y.length);
    while (begin < most && x[begin] === y[begin]) begin++;
    while (end < most - begin && x[x.length - 1 - end] === y[y.length - 1 - end]) end++;
    if (2 * (begin - skip + end) < Math.max(x.length, y.length) - skip) { begin = skip; end = 0; }
    [x, y].forEach((text, side) => {
      out[side].push([text.slice(0, begin), false], [text.slice(begin, text.length - end), true], [text.slice(text.length - end), false]);
    });
  }

  function marked(parts) {
    const text = element("div", "text");
    for (const [part, different] of parts) {
      if (different) text.append(element("mark", part === "" ? "gap" : "", part)); // a gap: the other has something there
      else text.append(part);
    }
    return text;
  }

  // ---------------------------------------------------------------- the map

  // The canvas is larger than the map. While the map is dragged, nothing is painted: the browser shifts
  // the canvas, until the edge of what is painted would come into sight, or the map is let go.
  const map = get("map"), canvas = get("dots"), pen = canvas.getContext("2d"), tip = get("tip"), halo = get("halo");
  const MARGIN = 0.35; // of the map, painted beyond it on every side
  const view = { x: 0.5, y: 0.5, scale: 400 }, painted = { x: 0.5, y: 0.5 };
  let width = 0, height = 0, beyondX = 0, beyondY = 0, ratio = 1, fit = 400, waits = false, stale = true, resting = 0;
  let chosen = -1, hovered = -1, hits = null, near = new Set();
  let colours = [], ink = "", ground = "", faint = "";

  const mapX = (i) => places[2 * i] / 65535, mapY = (i) => places[2 * i + 1] / 65535;
  const screenX = (i) => (mapX(i) - view.x) * view.scale + width / 2;
  const screenY = (i) => (mapY(i) - view.y) * view.scale + height / 2;
  const colourOf = (i) => (labels === null ? 1 : labels[i] === 0 ? 0 : 1 + ((labels[i] - 1) % 7));

  function readColours() {
    const style = getComputedStyle(document.documentElement), value = (name) => style.getPropertyValue(name).trim();
    colours = ["--alone", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"].map(value);
    [ink, ground, faint] = ["--text", "--ground", "--faint"].map(value);
    legend();
    draw();
  }

  function measure() {
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    const box = map.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return;
    const before = fit;
    width = box.width; height = box.height;
    beyondX = Math.round(MARGIN * width); beyondY = Math.round(MARGIN * height);
    canvas.width = Math.round((width + 2 * beyondX) * ratio); canvas.height = Math.round((height + 2 * beyondY) * ratio);
    const at = { left: -beyondX, top: -beyondY, width: width + 2 * beyondX, height: height + 2 * beyondY };
    for (const [name, value] of Object.entries(at)) canvas.style[name] = `${value}px`;
    fit = 0.92 * Math.min(width, height);
    view.scale *= fit / before;
    draw();
  }

  // Paint anew, or only shift what is painted; in the next frame, once, however often it is asked for.
  function draw() { stale = true; shift(); }
  function shift() {
    if (waits) return;
    waits = true;
    requestAnimationFrame(frame);
  }

  function frame() {
    waits = false;
    if (width === 0) return;
    const size = dotSize();
    if (stale || !reaches(view.x, painted.x, width, beyondX) || !reaches(view.y, painted.y, height, beyondY)) paint(size);
    const x = (painted.x - view.x) * view.scale, y = (painted.y - view.y) * view.scale;
    canvas.style.transform = `translate(${Math.round(x * ratio) / ratio}px, ${Math.round(y * ratio) / ratio}px)`;
    halo.hidden = hovered < 0;
    if (hovered < 0) return;
    halo.style.width = halo.style.height = `${2 * size + 7}px`;
    halo.style.transform = `translate(${screenX(hovered) - size - 3.5}px, ${screenY(hovered) - size - 3.5}px)`;
  }

  // Whether what is painted holds all of the map from 0 to 1 that is in sight.
  function reaches(at, was, length, beyond) {
    const half = length / 2 / view.scale, more = beyond / view.scale;
    return Math.max(at - half, 0) >= Math.max(was - half - more, 0) && Math.min(at + half, 1) <= Math.min(was + half + more, 1);
  }

  // Where the map has come to rest there are labels, and a margin on every side.
  function rest(wait) {
    clearTimeout(resting);
    resting = setTimeout(draw, wait);
  }

  function dotSize() {
    const grown = Math.sqrt(view.scale / fit), base = (count > 3000 ? 2.2 : count > 600 ? 3 : 4) * Math.min(1, Math.max(0.6, fit / 520));
    return Math.round(2 * Math.min(9, base * Math.max(0.8, Math.min(grown, 2.2)))) / 2;
  }

  const MOST_LABELLED = 60;

  function paint(size) {
    stale = false;
    painted.x = view.x; painted.y = view.y;
    pen.setTransform(ratio, 0, 0, ratio, beyondX * ratio, beyondY * ratio);
    pen.clearRect(-beyondX, -beyondY, width + 2 * beyondX, height + 2 * beyondY);
    const visible = [];
    if (chosen >= 0 || hits !== null) paintDots(size, false, null);
    paintDots(size, true, visible);
    if (chosen >= 0) paintChosen(size);
    if (visible.length <= MOST_LABELLED) paintLabels(visible, size);
  }

  const isShown = (i) => (chosen < 0 ? hits === null || hits[i] === 1 : i === chosen || near.has(i));
  const byColour = Uint32Array.from({ length: count }, (_, i) => i).sort((i, j) => colourOf(i) - colourOf(j) || i - j);
  const DOTS = 100; // of one path: longer paths take a browser longer than they save, shorter ones too

  // All dots that are shown, or all others, colour by colour; the items of a second set are diamonds.
  function paintDots(size, shown, visible) {
    const reach = size * 1.3, farX = 12 + beyondX, farY = 12 + beyondY;
    let colour = -1, open = 0;
    pen.beginPath();
    for (const i of byColour) {
      const x = screenX(i), y = screenY(i);
      if (x < -farX || y < -farY || x > width + farX || y > height + farY || isShown(i) !== shown) continue;
      if (colourOf(i) !== colour || open === DOTS) {
        pen.fill();
        pen.beginPath();
        colour = colourOf(i);
        open = 0;
        pen.fillStyle = colours[colour];
        pen.globalAlpha = !shown ? 0.16 : colour === 0 ? 0.6 : 0.85;
      }
      open++;
      if (i >= data.second) {
        pen.moveTo(x, y - reach); pen.lineTo(x + reach, y); pen.lineTo(x, y + reach); pen.lineTo(x - reach, y);
      } else { pen.moveTo(x + size, y); pen.arc(x, y, size, 0, 2 * Math.PI); }
      if (visible !== null && visible.length <= MOST_LABELLED && x > -12 && y > -12 && x < width + 12 && y < height + 12) visible.push(i);
    }
    pen.fill();
    pen.globalAlpha = 1;
  }

  function paintChosen(size) {
    pen.strokeStyle = faint; pen.lineWidth = 1; pen.globalAlpha = 0.55;
    pen.beginPath();
    for (const i of near) { pen.moveTo(screenX(chosen), screenY(chosen)); pen.lineTo(screenX(i), screenY(i)); }
    pen.stroke();
    pen.globalAlpha = 1;
    for (const i of near) ring(i, size + 1.5, faint);
    ring(chosen, size + 3, ink);
  }

  function ring(i, radius, colour) {
    pen.strokeStyle = colour; pen.lineWidth = 2;
    pen.beginPath(); pen.arc(screenX(i), screenY(i), radius, 0, 2 * Math.PI); pen.stroke();
  }

  // As many labels as there is room for, that of the chosen item first.
  function paintLabels(items, size) {
    const taken = [];
    pen.lineWidth = 3; pen.strokeStyle = ground; pen.fillStyle = ink; pen.lineJoin = "round";
    for (const i of [...items].sort((a, b) => (b === chosen) - (a === chosen))) {
      const text = short(texts[i], width < 500 ? 18 : 32), y = screenY(i) + 4;
      pen.font = `${i === chosen ? "600 " : ""}12px system-ui, sans-serif`;
      const wide = pen.measureText(text).width, after = screenX(i) + size + 4;
      const x = after + wide > width ? screenX(i) - size - 4 - wide : after;
      if (taken.some(([l, r, at]) => x < r && x + wide > l && Math.abs(y - at) < 14)) continue;
      taken.push([x, x + wide, y]);
      pen.strokeText(text, x, y);
      pen.fillText(text, x, y);
    }
  }

  const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text).replace(/\s+/g, " ");

  function itemAt(x, y, reach) {
    let best = -1, least = reach * reach;
    for (let i = 0; i < count; i++) {
      const gap = (screenX(i) - x) ** 2 + (screenY(i) - y) ** 2;
      if (gap < least && (chosen >= 0 || hits === null || hits[i] === 1)) { least = gap; best = i; }
    }
    return best;
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const scale = Math.min(Math.max(view.scale * factor, fit * 0.5), fit * 400);
    view.x += (x - width / 2) * (1 / view.scale - 1 / scale);
    view.y += (y - height / 2) * (1 / view.scale - 1 / scale);
    view.scale = scale;
    draw();
  }

  function showAll() { Object.assign(view, { x: 0.5, y: 0.5, scale: fit }); draw(); }

  function showItem(item) {
    // Far enough in that the item and its nearest fill half of the map.
    let reach = 0.01;
    const gaps = [...near].map((i) => Math.hypot(mapX(i) - mapX(item), mapY(i) - mapY(item))).sort((a, b) => a - b);
    if (gaps.length) reach = Math.max(reach, gaps[Math.floor(gaps.length * 0.6)]);
    const scale = Math.min((0.3 * Math.min(width, height)) / reach, fit * 12);
    Object.assign(view, { x: mapX(item), y: mapY(item), scale: Math.max(scale, fit) });
    draw();
  }

  // Where fingers were last, in the window: to ask where the map is would make the browser lay out the page.
  const fingers = new Map();
  let moved = 0;
  const at = (event) => { const box = map.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 1) moved = 0;
    hover(-1);
  });
  map.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) { const [x, y] = at(event); hover(itemAt(x, y, 12), x, y); return; }
    const x = event.clientX, y = event.clientY;
    moved += Math.hypot(x - finger.x, y - finger.y);
    if (fingers.size === 2) {
      const box = map.getBoundingClientRect(), other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const factor = Math.hypot(x - other.x, y - other.y) / Math.max(1, Math.hypot(finger.x - other.x, finger.y - other.y));
      zoom(factor, (x + other.x) / 2 - box.left, (y + other.y) / 2 - box.top);
    } else {
      view.x -= (x - finger.x) / view.scale;
      view.y -= (y - finger.y) / view.scale;
      shift();
    }
    finger.x = x; finger.y = y;
  });
  map.addEventListener("pointerup", (event) => {
    const alone = fingers.size === 1;
    fingers.delete(event.pointerId);
    if (alone && moved < 6) choose(itemAt(...at(event), 18), false);
    else if (alone) rest(0);
  });
  map.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); rest(0); });
  map.addEventListener("pointerleave", () => hover(-1));
  map.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...at(event));
  }, { passive: false });
  map.addEventListener("keydown", (event) => {
    const step = 60 / view.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; shift(); rest(150); }
    else if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (event.key === "0") showAll();
    else if (event.key === "Escape") choose(-1, false);
    else if (event.key === "Enter") choose(itemAt(width / 2, height / 2, Math.max(width, height)), false, true);
    else return;
    event.preventDefault();
  });

  function hover(item, x, y) {
    if (item !== hovered) { hovered = item; tip.hidden = item < 0; shift(); }
    if (item < 0) return;
    tip.textContent = short(texts[item], 240);
    tip.style.left = `${Math.min(x + 14, Math.max(0, width - tip.offsetWidth - 6))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > height ? Math.max(0, y - tip.offsetHeight - 10) : y + 18}px`;
  }

  get("in").addEventListener("click", () => zoom(1.6));
  get("out").addEventListener("click", () => zoom(1 / 1.6));
  get("all").addEventListener("click", showAll);

  function legend() {
    const box = get("legend");
    box.replaceChildren();
    const shown = new Set(labels === null ? [] : labels);
    const named = [...shown].sort((a, b) => a - b).filter((k) => data.labels.names[k]).slice(0, 10);
    for (const k of named) {
      const entry = element("span"), dot = element("i");
      dot.style.background = colours[k === 0 ? 0 : 1 + ((k - 1) % 7)];
      entry.append(dot, data.labels.names[k]);
      box.append(entry);
    }
    const others = named.length ? "Other colours" : "Colours";
    if (shown.size > named.length) box.append(element("span", "", `${others}: one for each ${data.labels.kind}; they repeat.`));
    if (data.second < count && data.links.both) box.append(element("span", "", "● first set   ◆ second set"));
  }

  // ---------------------------------------------------------------- items beside the map

  const list = get("list"), MOST_LISTED = 200;
  let lower = null;

  function search(query) {
    const wanted = query.trim().toLowerCase();
    if (wanted === "") hits = null;
    else {
      lower = lower || texts.map((text, i) => `${names[i]}\n${text}`.toLowerCase());
      hits = new Uint8Array(count);
      for (let i = 0; i < count; i++) if (lower[i].includes(wanted)) hits[i] = 1;
    }
    choose(-1, false);
    listItems();
  }

  function listItems() {
    const shown = [];
    let total = 0;
    for (let i = 0; i < count; i++) {
      if (hits !== null && hits[i] === 0) continue;
      total++;
      if (shown.length < MOST_LISTED) shown.push(i);
    }
    const more = total > shown.length ? `, the first ${shown.length} listed` : "";
    get("count").textContent = hits === null ? `${total.toLocaleString("en")} items${more}` : `${total.toLocaleString("en")} found${more}`;
    list.replaceChildren(...shown.map((i) => entry(i, [nameOf(i), element("div", "text clamp", texts[i])])));
  }

  const nameOf = (i) => element("div", "name", names[i]);

  function entry(item, content) {
    const row = element("li"), button = element("button");
    button.type = "button";
    button.append(...content);
    button.addEventListener("click", () => choose(item, true, true));
    row.append(button);
    return row;
  }

  // Arrow keys walk through any list of items.
  document.addEventListener("keydown", (event) => {
    const button = event.target.closest && event.target.closest(".list button");
    if (!button || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    const row = button.parentElement, next = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
    if (next) next.querySelector("button").focus();
    event.preventDefault();
  });

  function scoreOf(link) {
    const line = element("div", "score");
    line.append(element("b", "", number(score(link))));
    if (approximate === null) return line; // then all are exact
    line.append(element("span", `kind${isExact(link) ? " exact" : ""}`, isExact(link) ? "exact" : "approximate"));
    if (isExact(link)) line.append(element("span", "", `approximate ${number(approximate[link])}`));
    return line;
  }

  function choose(item, move, focus = false) {
    chosen = item;
    near = new Set(item < 0 ? [] : [...linked(item)].map((link) => otherEnd(link, item)));
    const panel = get("item");
    panel.hidden = item < 0;
    get("listing").hidden = item >= 0;
    if (item >= 0) fillItem(panel, item);
    if (item >= 0 && move) showItem(item);
    if (item >= 0 && focus) panel.focus({ preventScroll: true });
    panel.parentElement.scrollTop = 0;
    draw();
  }

  function fillItem(panel, item) {
    const head = element("div", "head"), close = element("button", "close", "All items");
    close.type = "button";
    close.addEventListener("click", () => { choose(-1, false); get("search").focus(); });
    const title = element("h2", "", names[item]);
    if (labels !== null && !data.labels.names[labels[item]]) title.append(` · ${data.labels.kind} ${labels[item]}`);
    else if (labels !== null) title.append(` · ${data.labels.names[labels[item]]}`);
    head.append(title, close);
    const own = element("div", "own text", texts[item]), rows = element("ul", "list");
    const order = [...linked(item)].sort((a, b) => (data.smallIsNear ? score(a) - score(b) : score(b) - score(a)));
    for (const link of order) {
      const other = otherEnd(link, item);
      rows.append(entry(other, [scoreOf(link), nameOf(other), marked(differences(texts[item], texts[other])[1])]));
    }
    const heading = element("h2", "", order.length ? `${data.neighborsTitle} (${order.length})` : "No other item");
    panel.replaceChildren(head, own, heading, rows);
  }

  // ---------------------------------------------------------------- pairs side by side

  const PAIRS = 30;
  let pairs = null, pairsShown = 0;

  // Each pair once, the best first; what the user was given already has this order.
  function orderedPairs() {
    const order = Array.from(left.keys());
    const better = data.smallIsNear ? (a, b) => score(a) - score(b) : (a, b) => score(b) - score(a);
    order.sort((a, b) => better(a, b) || a - b);
    if (data.links.both) return order;
    const seen = new Set();
    return order.filter((link) => {
      const [low, high] = [Math.min(left[link], right[link]), Math.max(left[link], right[link])];
      const key = low * count + high;
      return seen.has(key) ? false : seen.add(key);
    });
  }

  function morePairs() {
    pairs = pairs || orderedPairs();
    for (const link of pairs.slice(pairsShown, pairsShown + PAIRS)) {
      const row = element("div", "pair"), sides = differences(texts[left[link]], texts[right[link]]);
      row.append(scoreOf(link));
      [left[link], right[link]].forEach((item, side) => {
        const cell = marked(sides[side]);
        cell.prepend(nameOf(item));
        row.append(cell);
      });
      const show = element("button", "", "Map");
      show.type = "button";
      show.setAttribute("aria-label", `Show ${names[left[link]]} on the map`);
      show.addEventListener("click", () => { choose(left[link], true, true); map.scrollIntoView({ block: "center" }); });
      row.append(show);
      get("rows").append(row);
    }
    pairsShown = Math.min(pairsShown + PAIRS, pairs.length);
    get("more").hidden = pairsShown >= pairs.length;
    get("more").textContent = `Show more (${(pairs.length - pairsShown).toLocaleString("en")} left)`;
  }

  get("more").addEventListener("click", morePairs);

  // ---------------------------------------------------------------- light and dark

  const themes = ["", "light", "dark"], themeNames = ["as the system has them", "light", "dark"];
  function setTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme;
    get("theme").textContent = { light: "☀", dark: "☾" }[theme] || "◐";
    get("theme").setAttribute("aria-label", `Colours: ${themeNames[themes.indexOf(theme)]}`);
    readColours();
  }
  get("theme").addEventListener("click", () => {
    setTheme(themes[(themes.indexOf(document.documentElement.dataset.theme || "") + 1) % 3]);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

  // ---------------------------------------------------------------- begin

  let waiting = 0;
  get("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(event.target.value), 60);
  });
  setTheme("");
  new ResizeObserver(measure).observe(map);
  measure();
  showAll();
  listItems();
  if (left.length === 0) get("pairs").hidden = true;
  else setTimeout(morePairs, 0);
})();
