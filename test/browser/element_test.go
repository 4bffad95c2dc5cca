package browser_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// element describes an element as users and assistive technology know it.
type element struct {
	roles []string
	name  string
	in    string // a JavaScript expression of an element that contains it
}

func button(name string) element  { return element{[]string{"button"}, name, "document"} }
func link(name string) element    { return element{[]string{"link"}, name, "document"} }
func heading(name string) element { return element{[]string{"heading"}, name, "document"} }

// field is an input of any kind.
func field(label string) element {
	return element{[]string{"textbox", "searchbox", "spinbutton", "combobox", "checkbox", "radio", "Date", "DateTime"},
		label, "document"}
}

// inRow is the element in the row of a table that contains a text.
func (e element) inRow(text string) element {
	e.in = rowOf(text)
	return e
}

// rowOf is a JavaScript expression of the row.
func rowOf(text string) string {
	return fmt.Sprintf("[...document.querySelectorAll('tr')].find(row => row.innerText.includes(%q))", text)
}

func (e element) String() string {
	return fmt.Sprintf("%s %q in %s", strings.Join(e.roles, "/"), e.name, e.in)
}

// matches returns the elements that are exposed to users: visible ones, and only those of an open modal dialog.
func (b *tab) matches(e element) ([]cdp.BackendNodeID, error) {
	root, err := chromedp.Run(b.ctx, chromedp.Evaluate[*runtime.RemoteObject](e.in))
	if err != nil || root.ObjectID == "" {
		return nil, err
	}
	found, err := chromedp.Call(b.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{ObjectID: root.ObjectID,
		AccessibleName: e.name})
	if err != nil {
		return nil, err
	}
	var ids []cdp.BackendNodeID
	for _, node := range found.Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		var role string
		if err := json.Unmarshal([]byte(node.Role.Value), &role); err != nil {
			return nil, err
		}
		if slices.Contains(e.roles, role) {
			ids = append(ids, node.BackendDOMNodeID)
		}
	}
	return ids, nil
}

// find waits until there is exactly one such element.
func (b *tab) find(e element) (id cdp.BackendNodeID) {
	b.t.Helper()
	b.await("there is one "+e.String(), func() (bool, error) {
		ids, err := b.matches(e)
		if err != nil || len(ids) != 1 {
			return false, fmt.Errorf("%d found: %w", len(ids), err)
		}
		id = ids[0]
		return true, nil
	})
	return id
}

// has reports whether there is such an element now.
func (b *tab) has(e element) bool {
	b.t.Helper()
	ids, err := b.matches(e)
	must(b.t, err)
	return len(ids) > 0
}

// click clicks on the center of an element, as soon as it is there.
func (b *tab) click(e element) {
	b.t.Helper()
	b.await("click on "+e.String(), func() (bool, error) {
		id := b.find(e)
		if _, err := chromedp.Call(b.ctx, dom.ScrollIntoViewIfNeeded,
			dom.ScrollIntoViewIfNeededParams{BackendNodeID: id}); err != nil {
			return false, err
		}
		box, err := chromedp.Call(b.ctx, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: id})
		if err != nil || len(box.Quads) == 0 {
			return false, err
		}
		quad := box.Quads[0]
		return true, chromedp.Do(b.ctx, chromedp.MouseClickXY((quad[0]+quad[4])/2, (quad[1]+quad[5])/2))
	})
}

// call sends a command of the DevTools protocol to the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx))
	result, err := chromedp.Call(b.ctx, command, params)
	must(b.t, err)
	return result
}

// on calls a JavaScript function with an element as its argument.
func on[T any](b *tab, e element, function string) T {
	b.t.Helper()
	object := call(b, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: b.find(e)}).Object
	result, err := chromedp.Run(b.ctx, chromedp.CallFunctionOn[T]("function() { return ("+function+")(this) }",
		func(p *runtime.CallFunctionOnParams) {
			p.ObjectID = object.ObjectID
		}))
	must(b.t, err)
	return result
}
