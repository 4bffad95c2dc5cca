package featuretable

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"toggleadmin/pkg/toggle"
)

// The state of a toggle in the environments is one attribute, because searches and delivery read it of all toggles, and
// their time depends on the number and the size of the attributes. It begins with what searches select toggles by, in
// two lines: the names of the environments in which the toggle is on, and the ids of the segments that its strategies
// use, both separated by spaces. The rest is JSON that is compressed with DEFLATE (RFC 1951). Two strategies in each of
// two environments have 1,500 bytes of JSON, 330 compressed, and 140 compressed with a dictionary. make bench
// BENCH=toggles compares a search with reading the same toggles without environments.

// dictionary contains what states have in common. It is a part of the stored form, so it must not change.
const dictionary = `{"development":{"enabled":true,"strategies":[{"id":"01","name":"flexibleRollout","title":null,` +
	`"disabled":false,"sortOrder":0,"constraints":[{"contextName":"","operator":"IN","values":[""],"inverted":false,` +
	`"caseInsensitive":false}],"parameters":{"groupId":"","rollout":"100","stickiness":"default"},"variants":[],` +
	`"segments":[]}]},"production":{"enabled":false,"strategies":[{"id":"`

func encode(f toggle.Feature) []byte {
	var ids []string
	for _, id := range f.Segments() {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	var state bytes.Buffer
	fmt.Fprintf(&state, "%s\n%s\n", strings.Join(f.EnabledEnvironments(), " "), strings.Join(ids, " "))
	w, err := flate.NewWriterDict(&state, flate.BestCompression, []byte(dictionary))
	if err == nil {
		err = errors.Join(json.NewEncoder(w).Encode(f.Environments), w.Close())
	}
	if err != nil {
		panic(fmt.Sprintf("encode environments: %v", err)) // a defect of the program: no value or write can fail
	}
	return state.Bytes()
}

// divide returns the parts of an encoded state: the environments in which the toggle is on, the ids of its segments,
// and the compressed rest. If the value was not encoded by encode, decode returns an error for the rest.
func divide(state []byte) (enabledIn []string, segments []int64, compressed []byte) {
	first, rest, _ := bytes.Cut(state, []byte("\n"))
	second, compressed, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return nil, nil, state
	}
	if len(first) > 0 {
		enabledIn = strings.Split(string(first), " ")
	}
	for id := range strings.FieldsSeq(string(second)) {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, nil, state
		}
		segments = append(segments, n)
	}
	return enabledIn, segments, compressed
}

func decode(compressed []byte) (environments map[string]toggle.Environment, err error) {
	text := flate.NewReaderDict(bytes.NewReader(compressed), []byte(dictionary))
	err = json.NewDecoder(text).Decode(&environments)
	return environments, err
}
