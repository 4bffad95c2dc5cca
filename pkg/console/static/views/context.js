import { h } from '../dom.js';

/**
 * @param {HTMLElement} main
 * @param {{user: object, may: (permission: string) => boolean, signal: AbortSignal, announce: (text: string) => void}} context
 */
export async function render(main, context) {
  main.append(h('h2', null, 'Context fields'));
}
