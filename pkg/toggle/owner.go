package toggle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Owner is who decides what becomes of a toggle.
type Owner struct {
	Kind OwnerKind `json:"kind"`
	ID   int64     `json:"id,omitempty"` // of the person or the group
	// Name is the text. That of a person or a group is not stored: readers get the current one.
	Name string `json:"name,omitempty"`
}

// OwnerKind is the kind of an owner.
type OwnerKind string

// The kinds of owners.
const (
	OwnerUser  OwnerKind = "user" // a person
	OwnerGroup OwnerKind = "group"
	OwnerText  OwnerKind = "text" // what is neither, such as a team that has no accounts
)

// NoOwner is the text that names the owner of a toggle that has none.
const NoOwner = "none"

const maxOwner = 100 // characters

var errOwnerText = errors.New("must have no control characters, and no white space at its start and end")

// CheckOwnerText returns nil if a text can be an owner. Otherwise the error says what is wrong.
func CheckOwnerText(text string) error {
	if n := utf8.RuneCountInString(text); n < 1 || n > maxOwner {
		return fmt.Errorf("must have between 1 and %d characters", maxOwner)
	}
	if strings.TrimSpace(text) != text || !IsReadable(text) {
		return errOwnerText
	}
	return nil
}

// String returns the text that names an owner in parameters, such as user:7, group:3 or text:Checkout team.
func (o Owner) String() string {
	if o.Kind == OwnerText {
		return string(o.Kind) + ":" + o.Name
	}
	return string(o.Kind) + ":" + strconv.FormatInt(o.ID, 10)
}

// ParseOwner reads the text of an owner. ok is false if it is none.
func ParseOwner(text string) (o Owner, ok bool) {
	kind, value, _ := strings.Cut(text, ":")
	o = Owner{Kind: OwnerKind(kind)}
	switch o.Kind {
	case OwnerText:
		o.Name = value
		return o, CheckOwnerText(value) == nil
	case OwnerUser, OwnerGroup:
		id, err := strconv.ParseInt(value, 10, 64)
		o.ID = id
		return o, err == nil && id > 0 && o.String() == text
	}
	return o, false
}

// stored returns an owner without what is not stored.
func (o *Owner) stored() *Owner {
	if o == nil || o.Kind == OwnerText {
		return o
	}
	return &Owner{Kind: o.Kind, ID: o.ID}
}

// OwnerName returns the text that names the owner of the toggle in parameters.
func (f Feature) OwnerName() string {
	if f.Owner == nil {
		return NoOwner
	}
	return f.Owner.String()
}
