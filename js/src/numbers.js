/** Numbers in words, as `jaxscope/_view/format.py` writes them. Pure. */

/** All digits, grouped: "12,582,912". @param {number} number */
export const grouped = (number) => number.toLocaleString("en");

/** "1 line", "1,204 lines". @param {number} number @param {string} noun */
export const plural = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** "1.50 MiB"; exact below 1 KiB. @param {number} bytes */
export function formatBytes(bytes) {
  let power = 0;
  for (; Math.abs(bytes) >= (power ? 1023.488 : 1024) && power < 6; power += 1) bytes /= 1024;
  const size = Math.abs(bytes);
  return `${bytes.toFixed(!power || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)} ${["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power]}B`;
}

/** @param {number} number @param {number} most @returns {number} the nearest from 0 on that is no more than `most` */
export const clamp = (number, most) => Math.max(0, Math.min(most, number));
