package browser_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"toggleadmin/test/helper/assert"
)

// fields are the roles of inputs of any kind, for which "field" stands.
var fields = []string{"textbox", "searchbox", "spinbutton", "combobox", "checkbox", "radio", "Date", "DateTime"}

// container returns a JavaScript expression of the part of the page that "in row TEXT", "in event TEXT" or "in dialog"
// describes.
func container(in []string) string {
	if len(in) < 2 {
		return "document"
	}
	selector := map[string]string{"row": "tr", "event": ".events > li", "dialog": "dialog"}[in[1]]
	return fmt.Sprintf("[...document.querySelectorAll(%q)].findLast(e => e.innerText.includes(%q))", selector,
		append(in, "")[2])
}

// matches returns the elements that are exposed to users: visible ones, and only those of an open modal dialog.
func (b *tab) matches(role, name string, in []string) (ids []cdp.BackendNodeID, err error) {
	root, err := chromedp.Run(b.ctx, chromedp.Evaluate[*runtime.RemoteObject](container(in)))
	if err != nil || root.ObjectID == "" {
		return nil, err
	}
	found, err := chromedp.Call(b.ctx, accessibility.QueryAXTree,
		accessibility.QueryAXTreeParams{ObjectID: root.ObjectID, AccessibleName: name})
	if err != nil {
		return nil, err
	}
	for _, node := range found.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		var got string
		if err := json.Unmarshal([]byte(node.Role.Value), &got); err != nil {
			return nil, err
		}
		if got == role || role == "field" && slices.Contains(fields, got) {
			ids = append(ids, node.BackendDOMNodeID)
		}
	}
	return ids, nil
}

// find waits until there is exactly one such element.
func (b *tab) find(role, name string, in ...string) (id cdp.BackendNodeID) {
	b.t.Helper()
	b.await(fmt.Sprintf("there is one %s %q %q", role, name, in), func() (bool, error) {
		ids, err := b.matches(role, name, in)
		if err != nil || len(ids) != 1 {
			return false, fmt.Errorf("%d found: %w", len(ids), err)
		}
		id = ids[0]
		return true, nil
	})
	return id
}

// watchClick records in window.missed whether the next click misses an element, and keeps a click that misses it from the
// page. A click on the label of an input is one on the input.
const watchClick = `function() {
	const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
	const check = (event) => {
		const hits = event.composedPath().includes(this) || event.target.closest?.('label')?.control === this;
		if (event.type === 'pointerdown' || !hits) window.missed = !hits;
		if (window.missed) { event.preventDefault(); event.stopImmediatePropagation(); }
	};
	window.missed = false;
	window.unwatch = () => kinds.forEach((kind) => removeEventListener(kind, check, true));
	kinds.forEach((kind) => addEventListener(kind, check, true));
}`

// click clicks on the center of an element, as soon as it is there. It clicks again if the element has moved meanwhile, so
// that something else was there.
func (b *tab) click(role, name string, in ...string) {
	b.t.Helper()
	b.await(fmt.Sprintf("click on %s %q", role, name), func() (bool, error) {
		id := b.find(role, name, in...)
		if _, err := chromedp.Call(b.ctx, dom.ScrollIntoViewIfNeeded,
			dom.ScrollIntoViewIfNeededParams{BackendNodeID: id}); err != nil {
			return false, err
		}
		node, err := chromedp.Call(b.ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: id})
		if err != nil {
			return false, err
		}
		box, err := chromedp.Call(b.ctx, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: id})
		if err != nil || len(box.Quads) == 0 {
			return false, err
		}
		if _, err := chromedp.Run(b.ctx, chromedp.CallFunctionOn[chromedp.Void](watchClick,
			func(p *runtime.CallFunctionOnParams) { p.ObjectID = node.Object.ObjectID })); err != nil {
			return false, err
		}
		quad := box.Quads[0]
		if err := chromedp.Do(b.ctx, chromedp.MouseClickXY((quad[0]+quad[4])/2, (quad[1]+quad[5])/2)); err != nil {
			return false, err
		}
		// A click can load another page, which has neither.
		missed, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("window.unwatch?.(), window.missed === true"))
		return !missed, err
	})
}

// call sends a command of the DevTools protocol to the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	assert.OK(b.t, chromedp.Do(b.ctx))
	result, err := chromedp.Call(b.ctx, command, params)
	assert.OK(b.t, err)
	return result
}

// on calls a JavaScript function with an element as its argument.
func on[T any](b *tab, role, name, function string) T {
	b.t.Helper()
	object := call(b, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: b.find(role, name)}).Object
	result, err := chromedp.Run(b.ctx, chromedp.CallFunctionOn[T]("function() { return ("+function+")(this) }",
		func(p *runtime.CallFunctionOnParams) { p.ObjectID = object.ObjectID }))
	assert.OK(b.t, err)
	return result
}

// choose chooses an option of a list.
func (b *tab) choose(list, label string) {
	b.t.Helper()
	on[chromedp.Void](b, "field", list, fmt.Sprintf("e => { e.value = [...e.options].find(o => o.label === %q).value; "+
		"e.dispatchEvent(new Event('change', {bubbles: true})) }", label))
}

// seesError waits until an element has the focus and an error that contains a text, and says so to assistive
// technology.
func (b *tab) seesError(role, name, text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("%s has the error %q", name, text), func() (bool, error) {
		return on[bool](b, role, name, fmt.Sprintf(`e => e.getAttribute('aria-invalid') === 'true' &&
			e === document.activeElement && (e.getAttribute('aria-describedby') ?? '').split(' ')
				.some(id => document.getElementById(id)?.innerText.includes(%q))`, text)), nil
	})
}

// seesOnlyButtons checks the names of all buttons of the page, besides those that search and sort, the menus of rows,
// those that open an event, those that mark favorites, and those that say why the user may not do something.
func (b *tab) seesOnlyButtons(names ...string) {
	b.t.Helper()
	for _, name := range names {
		b.find("button", name)
	}
	b.is(fmt.Sprintf("[...document.querySelectorAll('main :is(button, input, select, textarea)')]"+
		".filter(e => !e.closest('.filters, .finder, .chosen, .sort, .more, .menu, .opener, .locked, .star')).length === %d", len(names)))
}

// isAlive checks that no page with one of the fragments has a button that does nothing, a menu without items, or a form
// that cannot be saved and does not say why.
func (b *tab) isAlive(fragments ...string) {
	b.t.Helper()
	for _, fragment := range fragments {
		b.run("window.left = location.hash === " + strconv.Quote(fragment) + " ? null : document.querySelector('.page'); void 0")
		b.setFragment(fragment)
		b.is("document.querySelector('.page') !== window.left")
		b.isLoaded()
		for _, dead := range evaluate[[]string](b, `[
			...[...document.querySelectorAll('main button')].filter(e => e.checkVisibility() && (e.matches(':disabled') || e.ariaDisabled === 'true')),
			...document.querySelectorAll('main .menu:empty'),
			...[...document.querySelectorAll('main form:has(:disabled)')].filter(e => !e.querySelector('.locked')),
		].map(e => e.outerHTML.slice(0, 200))`) {
			b.t.Errorf("on %s, this does nothing: %s", fragment, dead)
		}
	}
}
