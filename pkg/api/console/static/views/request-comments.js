// The comments on a change request.

import { call } from '../api.js';
import { requestPath } from '../change-request.js';
import { html, live, nothing } from '../template.js';
import { exactTime, shortTime } from '../time.js';

const mostComment = 1000; // characters

/** When something was done to a request. */
export const moment = (at) => html`<time datetime=${at} title=${exactTime(at)}>${shortTime(at)}</time>`;

/**
 * @param {() => void} draw
 * @param {() => Promise<void>} reload loads the request again
 * @returns {(request: Object) => unknown} the template of the comments, and of the form that adds one
 */
export function requestComments(draw, reload) {
  const state = { entered: '', isSending: false, problem: '' };
  return template;

  function template(request) {
    const { comments = [] } = request; // absent without one
    const waits = state.isSending ? 'true' : nothing;
    return html`<section aria-label="Comments"><h2>Comments</h2>
      ${comments.length === 0 ? nothing : html`<ol class="comments">${comments.map(({ text, createdBy, createdAt }) => html`<li>
        <p><strong><bdi>${createdBy.username}</bdi></strong> <span class="detail">${moment(createdAt)}</span></p><p><bdi>${text}</bdi></p></li>`)}</ol>`}
      <form novalidate aria-label="Add a comment" @submit=${(event) => send(event, request)}>
        <div class="field"><label for="comment">Comment</label><input id="comment" autocomplete="off" maxlength=${mostComment} dir="auto" .value=${live(state.entered)}
          @input=${({ target }) => { state.entered = target.value; }}>
          <p class="error" role="alert">${state.problem}</p></div>
        <button type="submit" aria-disabled=${waits} aria-busy=${waits}>${state.isSending ? 'Sending…' : 'Add comment'}</button></form></section>`;
  }

  async function send(event, request) {
    event.preventDefault();
    const text = state.entered.trim();
    if (state.isSending) return;
    Object.assign(state, { isSending: text !== '', problem: text === '' ? 'Enter a comment.' : '' });
    draw();
    if (text === '') return;
    try {
      await call('POST', `${requestPath(request)}/comments`, { text });
      state.entered = '';
      await reload();
    } catch (error) {
      state.problem = error.message;
    }
    state.isSending = false;
    draw();
  }
}
