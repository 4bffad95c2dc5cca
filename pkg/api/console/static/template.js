// Templates, for pages whose state changes: a page has a state, and a function that returns the template of a state. After each change of the
// state, the page renders the template again, and lit-html changes only what differs. Thus the focus, the caret and the position of a list
// stay as they are.
//
//   state → render(template(state), place)
//
// - The state is in one object of the page. The document holds none: no view reads a value, a class or a `data-` attribute back. Listeners
//   change the state and render.
// - A child is a text, a number, a template, an element, an array of them, or `nothing`. A condition is `condition ? html`…` : nothing`, because
//   lit-html shows `false` as text.
// - An attribute is `name="${text}"`, a boolean attribute `?name=${condition}`, a property `.name=${value}`, and a listener
//   `@event=${function}`. What a user changes too, such as the value of an input, is `.value=${live(value)}`.
// - Rows of a list are `repeat(items, key, template)`, so that each row keeps its elements when the order changes.
// - Text from the API is always a value, never part of a template. The directives for markup from a string are not part of the console, and
//   styles are classes: the Content-Security-Policy blocks style attributes. A test checks both.
// - Other modules import lit-html from here. What keeps a state of its own, such as the controls of a dialog, is an `element`, which templates
//   can contain.

import { render } from './vendor/lit-html/lit-html.js';

export { html, nothing, render } from './vendor/lit-html/lit-html.js';
export { live } from './vendor/lit-html/directives/live.js';
export { repeat } from './vendor/lit-html/directives/repeat.js';

/**
 * Creates the element of a template that has one.
 * @param {unknown} template
 * @returns {any}
 */
export function element(template) {
  const place = document.createDocumentFragment();
  render(template, place);
  return place.firstElementChild;
}
