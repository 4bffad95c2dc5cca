package world

import "fmt"

// keepPreferences changes preferences of the editor: feedback or saved views.
func (a *actor) keepPreferences() {
	if a.IntN(2) == 0 {
		a.answer()
	} else {
		a.saveViews()
	}
}

// answer updates the feedback of the editor, sometimes as an Admin, while the editor updates it too.
func (a *actor) answer() {
	given := fmt.Sprintf("2026-01-01T00:00:00.%03dZ", a.IntN(1000))
	change := choose(a, object{"neverShow": a.IntN(2) == 0}, object{"given": nil},
		object{"neverShow": true, "given": given})
	c := a.editor
	if a.IntN(2) == 0 {
		c, change["userId"] = a.admin, a.editor.account
	}
	o := a.do(c, "PUT feedback/survey", change)
	e := edit{change: change}
	if o.ok() {
		a.decode(o, &e.seen)
	}
	if o.ok() || o.unknown {
		a.edit(o, "feedback", "survey", "put", e)
	}
}
