// The SDKs that the page Connect an SDK knows. Their programs are those of docs/connect.md, which tests run with each SDK.

/**
 * The SDKs, by their names in addresses: `kind` is that of the token, `example` the name of the program in examples.json, `file` the name that
 * an application may give it, and `isPublic` whether it runs where there are no environment variables, such as in a browser.
 */
export const sdks = {
  node: { name: 'Node.js', kind: 'backend', example: 'node.js', file: 'app.cjs' },
  python: { name: 'Python', kind: 'backend', example: 'app.py', file: 'app.py' },
  go: { name: 'Go', kind: 'backend', example: 'main.go', file: 'main.go' },
  java: { name: 'Java', kind: 'backend', example: 'App.java', file: 'App.java' },
  react: { name: 'React', kind: 'frontend', example: 'react.jsx', file: 'App.jsx', isPublic: true },
  openfeature: { name: 'OpenFeature', kind: 'frontend', example: 'openfeature.js', file: 'toggles.js', isPublic: true },
};

/** Loads the programs, by the names of their files. */
export async function loadExamples(signal) {
  const response = await fetch(new URL('examples.json', import.meta.url), { signal });
  if (!response.ok) throw new Error('The programs cannot be loaded.');
  return response.json();
}

/**
 * The commands and the program that connect an application with an SDK, each with a label.
 * @param {typeof sdks.node} sdk
 * @param {string} example its program
 * @param {{url: string, secret: string, app: string, toggle: string}} values contain none of ' " ` \ and line breaks
 * @returns {{label: string, code: string}[]}
 */
export function stepsOf({ file, isPublic }, example, { url, secret, app, toggle }) {
  const [, installation, program] = /^(?:\/\/|#) (.+)\n([^]+)\n$/.exec(example);
  const named = program.replace(/(['"])shop\1/, (_, quote) => `${quote}${app}${quote}`).replaceAll('express-checkout', toggle);
  return [
    { label: 'Install the SDK', code: installation },
    ...isPublic ? [] : [{ label: 'Set the variables', code: `export CLIENT_URL='${url}'\nexport CLIENT_TOKEN='${secret}'` }],
    { label: `Ask for a toggle, for example in ${file}`, code: isPublic ? withValues(named, { CLIENT_URL: url, CLIENT_TOKEN: secret }) : named },
  ];
}

/** Returns a program of JavaScript with values instead of the variables of the environment. */
function withValues(program, values) {
  return program
    .replace(/`([^`\n]*)\$\{process\.env\.(\w+)\}([^`\n]*)`/g, (_, before, name, after) => `'${before}${values[name]}${after}'`)
    .replace(/process\.env\.(\w+)/g, (_, name) => `'${values[name]}'`);
}
