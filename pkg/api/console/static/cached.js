// What pages keep for a while of what they have loaded.

import { credential } from './session.js';

/**
 * Returns a function that loads something by a key: once for all who ask within a time, with the same credential.
 * @template T
 * @param {(key: string) => Promise<T>} load
 * @param {number} time in milliseconds
 * @returns {{get: (key?: string) => Promise<T>, forget: () => void}} `forget` is for what has changed
 */
export function cached(load, time) {
  const known = new Map(); // {value, token, at} by key
  return {
    get(key = '') {
      const token = credential();
      const found = known.get(key);
      if (found?.token === token && Date.now() - found.at <= time) return found.value;
      const loaded = { value: load(key), token, at: Date.now() };
      known.set(key, loaded);
      loaded.value.catch(() => { if (known.get(key) === loaded) known.delete(key); });
      return loaded.value;
    },
    forget: () => known.clear(),
  };
}
