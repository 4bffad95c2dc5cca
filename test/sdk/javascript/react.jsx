// Shows the App of docs/examples/react.jsx in a page, and prints the text of the page whenever it changes.

import { createRoot } from 'react-dom/client';
import { App } from '../../../docs/examples/react.jsx';

const main = document.body.appendChild(document.createElement('main'));
new MutationObserver(() => console.log(main.innerText)).observe(main, {
  characterData: true,
  childList: true,
  subtree: true,
});
createRoot(main).render(<App />);
