// QR codes by ISO/IEC 18004: bytes, level L, versions 1 to 15, up to 520 bytes.
// @ts-check

/** Check bytes per block, and the number of blocks, by version. */
const CHECKS = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6];
/** The mask functions: a data module is inverted if the value is 0. */
const MASKS = [
  (x, y) => (x + y) % 2,
  (_, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => ((x / 3 | 0) + (y / 2 | 0)) % 2,
  (x, y) => x * y % 2 + x * y % 3,
  (x, y) => (x * y % 2 + x * y % 3) % 2,
  (x, y) => ((x + y) % 2 + x * y % 3) % 2,
];

/** Returns the rows of a text's code, without the quiet zone: true is dark. */
export function modules(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = CHECKS.map((_, at) => at + 1).find((one) => bytes.length + (one < 10 ? 2 : 3) <= room(one));
  if (!version) throw new Error('too long for a code');
  const words = withChecks(dataWords(bytes, version), version);
  const codes = MASKS.map((mask, at) => filled(frame(version, at), words, mask));
  return codes.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}

/** Returns the number of bytes of a version. */
function total(version) {
  const marks = version < 2 ? 0 : (version / 7 | 0) + 2;
  return ((16 * version + 128) * version + 64 - (marks && (25 * marks - 10) * marks - 55) - (version < 7 ? 0 : 36)) >> 3;
}

/** Returns the number of data bytes of a version. */
const room = (version) => total(version) - CHECKS[version - 1] * BLOCKS[version - 1];

function dataWords(bytes, version) {
  const binary = (number, digits) => number.toString(2).padStart(digits, '0');
  const head = `0100${binary(bytes.length, version < 10 ? 8 : 16)}`;
  const bits = `${head}${bytes.map((byte) => binary(byte, 8)).join('')}0000`;
  const words = (bits.match(/.{8}/g) ?? []).map((word) => parseInt(word, 2));
  for (let pad = 0; words.length < room(version); pad++) words.push(pad % 2 ? 17 : 236);
  return words;
}

/** Multiplies in GF(256). */
function times(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >>> 7) * 0x11d) ^ ((b >> bit & 1) * a);
  return product;
}

/** Returns the data in blocks, each with its check bytes (Reed-Solomon), interleaved. */
function withChecks(data, version) {
  const [checks, count] = [CHECKS[version - 1], BLOCKS[version - 1]];
  const divisor = [...Array(checks - 1).fill(0), 1];
  for (let i = 0, root = 1; i < checks; i++, root = times(root, 2)) {
    for (let j = 0; j < checks; j++) divisor[j] = times(divisor[j], root) ^ (divisor[j + 1] ?? 0);
  }
  const [short, long] = [data.length / count | 0, data.length % count];
  const blocks = [...Array(count).keys()].map((block) => {
    const from = block * short + Math.max(0, block - (count - long));
    const part = data.slice(from, from + short + (block >= count - long ? 1 : 0));
    const rest = part.reduce((rest, word) => {
      const factor = word ^ rest[0];
      return divisor.map((one, at) => (rest[at + 1] ?? 0) ^ times(one, factor));
    }, Array(checks).fill(0));
    return { part, rest };
  });
  const interleaved = (lists, length) => [...Array(length).keys()].flatMap((at) => lists.flatMap((list) => list[at] ?? []));
  return [...interleaved(blocks.map(({ part }) => part), short + 1), ...interleaved(blocks.map(({ rest }) => rest), checks)];
}

/** Returns the function patterns of a code; data modules are undefined. */
function frame(version, mask) {
  const size = 17 + 4 * version, grid = Array.from({ length: size }, () => Array(size).fill(undefined));
  const square = (x, y, radius, isDark) => {
    for (let dy = -radius; dy <= radius; dy++) for (let dx = -radius; dx <= radius; dx++) {
      if (grid[y + dy]?.length > x + dx && x + dx >= 0) grid[y + dy][x + dx] = isDark(Math.max(Math.abs(dx), Math.abs(dy)));
    }
  };
  for (let at = 0; at < size; at++) grid[6][at] = grid[at][6] = at % 2 === 0;
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
  const marks = version < 2 ? 0 : (version / 7 | 0) + 2, step = Math.ceil((size - 13) / (2 * marks - 2)) * 2;
  const at = (mark) => (mark ? size - 7 - (marks - 1 - mark) * step : 6);
  for (let i = 0; i < marks; i++) for (let j = 0; j < marks; j++) {
    const isCorner = (i === 0 || i === marks - 1) && (j === 0 || j === marks - 1) && i + j < 2 * marks - 2;
    if (!isCorner) square(at(i), at(j), 2, (ring) => ring !== 1);
  }
  const coded = (word, digits, generator) => {
    let rest = word;
    for (let i = 0; i < digits; i++) rest = (rest << 1) ^ ((rest >>> (digits - 1)) * generator);
    return word << digits | rest;
  };
  const format = coded(8 | mask, 10, 0x537) ^ 0x5412, number = coded(version, 12, 0x1f25);
  for (let i = 0; i < 15; i++) {
    const dark = (format >> i & 1) === 1;
    grid[i < 6 ? i : i < 8 ? i + 1 : size - 15 + i][8] = dark;
    grid[8][i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i] = dark;
  }
  grid[size - 8][8] = true;
  for (let i = 0; i < 18 && version > 6; i++) {
    const [far, near] = [size - 11 + i % 3, i / 3 | 0];
    grid[far][near] = grid[near][far] = (number >> i & 1) === 1;
  }
  return grid;
}

/** Fills in the data: upwards and downwards in columns of two, from the right. */
function filled(grid, words, mask) {
  const size = grid.length;
  let bit = 0;
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    const isDown = (right > 6 ? right : right + 1) % 4 === 2;
    for (let step = 0; step < size; step++) for (const x of [right, right - 1]) {
      const y = isDown ? step : size - 1 - step;
      if (grid[y][x] !== undefined) continue;
      grid[y][x] = ((words[bit >> 3] >> (7 - (bit & 7)) & 1) === 1) !== (mask(x, y) === 0);
      bit++;
    }
  }
  return grid;
}

/** Returns the penalty score: long runs, blocks, finder-like patterns, imbalance. */
function penalty(grid) {
  const lines = [...grid, ...grid.map((_, x) => grid.map((row) => row[x]))].map((line) => line.map(Number).join(''));
  const found = (pattern) => lines.flatMap((line) => [...line.matchAll(pattern)]);
  const runs = found(/0{5,}|1{5,}/g).reduce((sum, [run]) => sum + run.length - 2, 0);
  const corners = found(/(?=10111010000|00001011101)/g).length * 40;
  const isBlock = (y, x) => x && y && new Set([grid[y][x], grid[y - 1][x], grid[y][x - 1], grid[y - 1][x - 1]]).size === 1;
  const blocks = grid.reduce((sum, row, y) => sum + row.filter((_, x) => isBlock(y, x)).length * 3, 0);
  const dark = grid.flat().filter(Boolean).length / grid.length ** 2;
  return runs + corners + blocks + Math.floor(Math.abs(dark - 0.5) * 20) * 10;
}
