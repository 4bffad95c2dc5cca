// The clipboard of the browser.

/**
 * Copies a text, and says so.
 * @param {string} text
 * @param {string} said
 * @param {(message: string) => void} announce
 */
export async function copyText(text, said, announce) {
  try {
    await navigator.clipboard.writeText(text);
    announce(said);
  } catch { // not permitted, or the page does not have a secure origin
    announce('The browser does not allow it to copy.');
  }
}
