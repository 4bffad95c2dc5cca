// The protocol of the programs. Each line of the input is a JSON object with a context and toggles. The line of output
// for it has the result of each toggle: "off", "on", or "on" with the variant and its payload. In a page, the test calls
// the function evaluate instead.

// serve calls evaluate(context, toggles), which returns the results, for each line of the input.
exports.serve = async (evaluate) => {
  if (globalThis.document) {
    globalThis.evaluate = evaluate;
    return new Promise(() => {}); // until the page is closed
  }
  const { createInterface } = require('node:readline');
  for await (const line of createInterface({ input: process.stdin })) {
    const { context, toggles } = JSON.parse(line);
    console.log(JSON.stringify(await evaluate(context, toggles)));
  }
};

// text returns the result of a toggle, of which an SDK of Unleash says whether it is on and which variant it has.
exports.text = (enabled, variant) => {
  if (!enabled) return 'off';
  return variant?.enabled ? `on ${variant.name} ${variant.payload?.value ?? ''}`.trim() : 'on';
};
