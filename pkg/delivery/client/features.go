package client

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// getFeatures serves GET /api/client/features.
func (h *Handler) getFeatures(r *request) error {
	q, err := r.query()
	if err != nil {
		return err
	}
	gzip := acceptsGzip(r.Header)
	header := r.w.Header()
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", "Authorization, Unleash-Client-Spec, Accept-Encoding")
	p := h.poll(r, snapshot.NewSelection(q))
	p.tag.Gzip = gzip
	header.Set("ETag", strconv.Quote(p.tag.String()))
	if !p.newer {
		r.w.WriteHeader(http.StatusNotModified)
		h.counts.addFeatures(http.StatusNotModified)
		return nil
	}
	body, err := p.view.response(p.selection, gzip)
	if err != nil {
		return err
	}
	if err := checkSize(body, gzip); err != nil {
		return err
	}
	header.Set("Content-Type", "application/json; charset=utf-8")
	if gzip {
		header.Set("Content-Encoding", "gzip")
	}
	h.counts.addFeatures(http.StatusOK)
	_, err = r.w.Write(body)
	return err
}

// poll is the response to a poll.
type poll struct {
	selection snapshot.Selection
	view      *view
	tag       snapshot.Tag // of the selection from the view
	newer     bool         // than what the client has
}

func newPoll(s snapshot.Selection, v *view) poll {
	return poll{selection: s, view: v, tag: s.Tag(v.Epoch, v.Versions)}
}

// poll returns the response to a client that has what the header If-None-Match names. If the client is ahead of the
// process, or of another epoch, the process reads the pointer again. If that fails, it has nothing newer: an SDK must not
// go back.
func (h *Handler) poll(r *request, s snapshot.Selection) poll {
	p := newPoll(s, r.view)
	tags, matchesAll := ifNoneMatch(r.Header)
	if matchesAll {
		return p
	}
	var sent []snapshot.Tag
	for _, text := range tags {
		if tag, ok := snapshot.ParseTag(strings.Trim(text, `"`)); ok && tag.Query == p.tag.Query {
			sent = append(sent, tag)
		}
	}
	if slices.ContainsFunc(sent, func(tag snapshot.Tag) bool {
		return tag.Epoch != p.tag.Epoch || tag.Version > p.tag.Version
	}) {
		fresh, err := h.cache.refresh(r.Context(), r.token.Environment)
		if err != nil {
			r.behind, r.current = err, fresh.current
			return p
		}
		p = newPoll(s, fresh.view)
	}
	p.newer = !slices.ContainsFunc(sent, func(tag snapshot.Tag) bool {
		return tag.Epoch == p.tag.Epoch && tag.Version >= p.tag.Version
	})
	return p
}

// maxTags is the maximum number of entity tags that are compared. Clients send one.
const maxTags = 10

// ifNoneMatch returns the entity tags in the header If-None-Match, and whether it is *.
func ifNoneMatch(header http.Header) (tags []string, matchesAll bool) {
	tags = lambdahttp.ETags(header, "If-None-Match")
	return tags[:min(len(tags), maxTags)], len(tags) == 1 && tags[0] == "*"
}

// acceptsGzip reports whether a response can be compressed. What the header says of gzip has precedence over *.
func acceptsGzip(header http.Header) bool {
	accepts := map[string]bool{}
	for _, value := range header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			name, parameter, _ := strings.Cut(strings.ToLower(coding), ";")
			weight, hasWeight := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q=")
			q, err := strconv.ParseFloat(weight, 64)
			accepts[strings.TrimSpace(name)] = !hasWeight || err == nil && q > 0
		}
	}
	if gzip, ok := accepts["gzip"]; ok {
		return gzip
	}
	return accepts["*"]
}

// all returns the selection of everything that the token sees.
func (r *request) all() snapshot.Selection {
	return snapshot.NewSelection(snapshot.Query{Projects: r.token.Projects, Environment: r.token.Environment})
}

// query returns the query of a download. A token of projects cannot select others.
func (r *request) query() (snapshot.Query, error) {
	q := snapshot.Query{
		Projects:                 r.token.Projects,
		Environment:              r.token.Environment,
		InlineSegmentConstraints: !knowsSegments(r.Header.Get("Unleash-Client-Spec")),
	}
	values := url.Values{}
	for name, value := range parseQuery(r.URL.RawQuery) {
		values.Add(name, value)
	}
	for _, text := range slices.Sorted(slices.Values(slices.Concat(values["tag"], values["tag[]"]))) {
		tag, ok := toggle.ParseTag(text)
		if !ok {
			return q, apierror.Invalid(apierror.At("/query/tag", "must be tags such as simple:checkout").Sent(text))
		}
		q.Tags = append(q.Tags, snapshot.NewTagOf(tag))
	}
	q.Tags = slices.Compact(q.Tags)
	if prefixes := values["namePrefix"]; len(prefixes) > 1 {
		return q, apierror.Invalid(apierror.At("/query/namePrefix", "must be sent once"))
	} else if len(prefixes) == 1 {
		q.NamePrefix = prefixes[0]
	}
	projects := slices.Concat(values["project"], values["project[]"])
	if slices.Contains(projects, "") {
		return q, apierror.Invalid(apierror.At("/query/project", "must not be empty"))
	}
	if len(q.Projects) == 0 {
		q.Projects = slices.Compact(slices.Sorted(slices.Values(projects)))
	}
	return q, nil
}

// The version of Unleash's client specification from which SDKs know segments.
const (
	segmentsMajor = 4
	segmentsMinor = 2
)

// knowsSegments reports whether a client specification, such as 4.2.0, includes segments. One that is no plain version
// does not.
func knowsSegments(specification string) bool {
	parts := strings.Split(specification, ".")
	if len(parts) != 3 {
		return false
	}
	var numbers [3]int
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || strconv.Itoa(n) != part || n < 0 {
			return false
		}
		numbers[i] = n
	}
	return numbers[0] > segmentsMajor || numbers[0] == segmentsMajor && numbers[1] >= segmentsMinor
}

// getFeature serves GET /api/client/features/{name}, for which namePrefix and tag have no meaning.
func (h *Handler) getFeature(r *request) error {
	q, err := r.query()
	if err != nil {
		return err
	}
	d, err := r.view.document()
	if err != nil {
		return err
	}
	q.NamePrefix, q.Tags = "", nil
	d = snapshot.NewSelection(q).From(d).Select(func(f evaluation.Feature) bool { return f.Name == r.name })
	if len(d.Features) == 0 {
		return apierror.Errorf(apierror.NotFound, "There is no toggle with the name %q.", apierror.Echo(r.name))
	}
	if q.InlineSegmentConstraints {
		if err := checkInlined(d); err != nil {
			return err
		}
		d = d.Inline()
	}
	text, err := jsonbody.Encode(d.Features[0])
	if err != nil {
		return err
	}
	return r.writeTagged(text, "Authorization, Unleash-Client-Spec, Accept-Encoding")
}

// writeTagged writes a body with a weak entity tag that depends on its content, or a 304 if the client has it. One that
// is too large is a 500, with which SDKs keep their last state.
func (r *request) writeTagged(text []byte, vary string) error {
	tag := lambdahttp.ETagOf(text)
	header := r.w.Header()
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", vary)
	header.Set("ETag", "W/"+tag)
	if tags, matchesAll := ifNoneMatch(r.Header); matchesAll || slices.Contains(tags, tag) {
		r.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if size := jsonbody.SizeOfString(text); size > maxResponse {
		return fmt.Errorf("the response has %d bytes as a JSON string, and the limit is %d", size, maxResponse)
	}
	header.Set("Content-Type", "application/json; charset=utf-8")
	_, err := r.w.Write(text)
	return err
}
