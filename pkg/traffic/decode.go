package traffic

import (
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A delivery is an asynchronous invocation of Lambda's, which takes 1 MB; one that is invoked by hand, 6 MB. A line of the access log has
// 27 bytes of randomness that no compression removes, so the first holds at most 30,000 lines, in less than 30 MB unpacked; a real one
// unpacks to ten times its size.
const (
	maxUnpacked = 64 << 20 // bytes
	maxRatio    = 64       // of unpacked to data, above the first megabyte
	maxEvents   = 250_000
	maxEventID  = 256 // bytes; CloudWatch Logs has 56
)

// errDelivery is a delivery of which nothing can be counted.
var errDelivery = errors.New("the delivery cannot be read")

// Decode reads the data of a CloudWatch Logs subscription: base64 of gzip of JSON. An event that is no line of the access log is counted
// as such and harms no other. An error says that the delivery as a whole is broken; then nothing of it may be counted, for it would not be
// known again once it comes whole. A control message is an empty batch.
func Decode(data string, paths Paths) (*Batch, error) {
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: unpack: %w", errDelivery, err)
	}
	d := &delivery{
		decoder: jsontext.NewDecoder(&limited{packed, min(maxUnpacked, 1<<20+maxRatio*len(data))}, jsontext.AllowInvalidUTF8(true)), lines: newLines(paths),
	}
	if err := d.read(); err != nil {
		return nil, fmt.Errorf("%w: %w", errDelivery, err)
	}
	switch d.messageType {
	case "DATA_MESSAGE":
		return d.batch(), nil
	case "CONTROL_MESSAGE": // CloudWatch Logs looks whether the function is there
		return &Batch{}, nil
	}
	return nil, fmt.Errorf("%w: its messageType is not known", errDelivery)
}

// limited fails where there is more than a number of bytes.
type limited struct {
	from io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errors.New("it unpacks to more than any delivery has")
	}
	return n, err
}

// delivery is a delivery that is being read.
type delivery struct {
	decoder *jsontext.Decoder
	lines   *lines

	messageType, logStream string
	seen                   []seen
}

// seen is an event: a request, of no path where its path is not counted, or no line of ours.
type seen struct {
	Request
	ours bool
}

var errShape = errors.New("it has not the form of a CloudWatch Logs subscription's")

// read reads all, to the end of the gzip stream and its checksum.
func (d *delivery) read() error {
	if token, err := d.decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return cmp.Or(err, errShape)
	}
	for d.decoder.PeekKind() != '}' {
		name, err := d.decoder.ReadToken()
		if err != nil {
			return err
		}
		switch name.String() {
		case "messageType":
			d.messageType, err = d.text()
		case "logStream":
			d.logStream, err = d.text()
		case "logEvents":
			err = d.events()
		default:
			err = d.decoder.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.decoder.ReadToken(); err != nil {
		return err
	}
	switch _, err := d.decoder.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errShape
}

func (d *delivery) text() (string, error) {
	token, err := d.decoder.ReadToken()
	if err != nil || token.Kind() != '"' {
		return "", cmp.Or(err, errShape)
	}
	return token.String(), nil
}

func (d *delivery) events() error {
	if token, err := d.decoder.ReadToken(); err != nil || token.Kind() != '[' {
		return cmp.Or(err, errShape)
	}
	for d.decoder.PeekKind() != ']' {
		if len(d.seen) == maxEvents {
			return errors.New("it has more events than any delivery")
		}
		if err := d.event(); err != nil {
			return err
		}
	}
	_, err := d.decoder.ReadToken()
	return err
}

// event reads one event. An error is one of the delivery's.
func (d *delivery) event() error {
	id, line := "", &d.lines.text
	line.Reset()
	if d.decoder.PeekKind() != '{' { // not even an event
		value, err := d.decoder.ReadValue()
		d.seen = append(d.seen, seen{Request: Request{Event: newDigest(string(value)).text()}})
		return err
	}
	if _, err := d.decoder.ReadToken(); err != nil {
		return err
	}
	isText := false
	for d.decoder.PeekKind() != '}' {
		name, err := d.decoder.ReadToken()
		if err != nil {
			return err
		}
		member := name.String()
		value, err := d.decoder.ReadValue()
		if err != nil {
			return err
		}
		switch {
		case value.Kind() != '"':
		case member == "id":
			if unquoted, err := jsontext.AppendUnquote(nil, value); err == nil {
				id = string(unquoted)
			}
		case member == "message":
			if unquoted, err := jsontext.AppendUnquote(line.AvailableBuffer(), value); err == nil {
				isText = true
				line.Write(unquoted)
			}
		}
	}
	if _, err := d.decoder.ReadToken(); err != nil {
		return err
	}
	if id == "" || len(id) > maxEventID || strings.Contains(id, "\n") { // a line is its own identity: it has the request's id
		id = newDigest(line.String()).text()
	}
	path, day, group, ours := d.lines.read()
	d.seen = append(d.seen, seen{Request{Event: id, APIPath: path, Day: day, Group: group}, ours && isText})
	return nil
}

// batch orders what was read, and takes each event once.
func (d *delivery) batch() *Batch {
	all := len(d.seen)
	slices.SortStableFunc(d.seen, func(a, b seen) int { return cmp.Compare(a.Event, b.Event) })
	d.seen = slices.CompactFunc(d.seen, func(a, b seen) bool { return a.Event == b.Event })
	b := &Batch{Shard: Shard(d.logStream), Events: len(d.seen), Repeated: all - len(d.seen)}
	identity := newDigest(d.logStream)
	for i := range d.seen {
		e := &d.seen[i]
		identity.add(e.Event)
		switch {
		case !e.ours:
			b.Malformed++
		case e.APIPath == "":
			b.Uncounted++
		default:
			b.Requests = append(b.Requests, e.Request)
		}
	}
	b.ID = identity.text()
	return b
}
