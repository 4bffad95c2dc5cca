package transfer

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

func prepareType(t toggle.Type, old *toggle.Type) (toggle.Type, remarks, error) {
	t.ID = toggle.NormalTypeID(t.ID)
	if err := toggle.CheckName(t.ID); err != nil {
		return t, remarks{}, fmt.Errorf("its id is not valid: %w", err)
	}
	if t.LifetimeDays != nil && *t.LifetimeDays == 0 {
		t.LifetimeDays = nil
	}
	if t.LifetimeDays != nil && (*t.LifetimeDays < 0 || *t.LifetimeDays > toggle.MaxLifetimeDays) {
		return t, remarks{}, fmt.Errorf("its lifetime of %d days is not valid", *t.LifetimeDays)
	}
	if old != nil { // only the lifetime can be changed
		t.Name, t.Description = old.Name, old.Description
		return t, remarks{}, nil
	}
	var about remarks
	about.cut(&t.Name, "its name", toggle.MaxText)
	about.cut(&t.Description, "its description", toggle.MaxDescription)
	return t, about, nil
}

func prepareField(f ContextField, old *ContextField) (ContextField, remarks, error) {
	var about remarks
	if err := toggle.CheckName(f.Name); err != nil {
		return f, about, fmt.Errorf("its name is not valid: %w", err)
	}
	if f.SortOrder < math.MinInt32 || f.SortOrder > math.MaxInt32 {
		return f, about, fmt.Errorf("its sort order of %d is not valid", f.SortOrder)
	}
	if len(f.LegalValues) > toggle.MaxLegalValues {
		return f, about, fmt.Errorf("it has %d legal values, the maximum is %d", len(f.LegalValues), toggle.MaxLegalValues)
	}
	about.cutOptional(&f.Description, "its description", toggle.MaxDescription)
	seen := map[string]bool{}
	f.LegalValues = append([]LegalValue{}, f.LegalValues...)
	for i, v := range f.LegalValues {
		if n := utf8.RuneCountInString(v.Value); n < 1 || n > toggle.MaxLegalValue || seen[v.Value] {
			return f, about, fmt.Errorf("its legal value %.50q is not valid: each has 1 to %d characters and occurs once",
				v.Value, toggle.MaxLegalValue)
		}
		seen[v.Value] = true
		what := fmt.Sprintf("the description of its legal value %.50q", v.Value)
		about.cutOptional(&f.LegalValues[i].Description, what, toggle.MaxDescription)
	}
	var err error
	if f.CreatedAt, err = normalTime(f.CreatedAt); err != nil {
		return f, about, err
	}
	if old != nil { // cannot be changed
		f.CreatedAt = old.CreatedAt
	}
	if err := f.stored().CheckSize(); err != nil {
		return f, about, exitstatus.Explain(err)
	}
	return f, about, nil
}

// cutOptional is cut for a text that can be nil.
func (r *remarks) cutOptional(text **string, what string, most int) {
	if *text != nil {
		shorter := **text
		r.cut(&shorter, what, most)
		*text = &shorter
	}
}

// cut shortens a text that has too many characters, and notes it.
func (r *remarks) cut(text *string, what string, most int) {
	characters := []rune(*text)
	if len(characters) > most {
		*text = string(characters[:most])
		r.note("%s was cut: it has %d characters, the maximum is %d", what, len(characters), most)
	}
}

// normalTime returns a time in the form in which it is stored.
func normalTime(text *string) (*string, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // no time
	}
	t, err := datetime.Parse(*text)
	if err != nil {
		return nil, fmt.Errorf("%.50q is not a time", *text)
	}
	return new(datetime.Format(t)), nil
}

// parsed returns the time that normalTime has returned as text.
func parsed(text *string) *time.Time {
	if text == nil {
		return nil
	}
	t, _ := datetime.Parse(*text) // normalTime has checked it
	return &t
}
