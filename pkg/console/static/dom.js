/**
 * Creates an element. Text is inserted as text, never as markup.
 * @param {string} tag
 * @param {Record<string, unknown>?} props attributes; functions are listeners (onclick), true is an empty attribute, null and false are none
 * @param {...unknown} children nodes, texts, arrays of them; null is skipped
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
