package traffic

import (
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// errMalformed means that a log event is not a line of the access log. It does not contain the line's text.
var errMalformed = errors.New("not a line of the access log")

// parseLine reads a line of the access log: a JSON object of strings, in the format that template.yaml defines.
func parseLine(text string) (pathAndDay, Counts, error) {
	var line struct {
		Path   string `json:"resourcePath"`
		Time   string `json:"requestTimeEpoch"` // milliseconds
		Status string `json:"status"`
	}
	if err := json.Unmarshal([]byte(text), &line); err != nil { // rejects duplicate properties and trailing data
		return pathAndDay{}, Counts{}, errMalformed
	}
	day, validTime := parseDay(line.Time)
	counts, validStatus := parseStatus(line.Status)
	if line.Path == "" || !validTime || !validStatus {
		return pathAndDay{}, Counts{}, errMalformed
	}
	return pathAndDay{line.Path, day}, counts, nil
}

// parseDay returns midnight UTC of a time after 1970 that a report can name.
func parseDay(milliseconds string) (time.Time, bool) {
	n, err := strconv.ParseInt(milliseconds, 10, 64)
	day := time.UnixMilli(n).UTC().Truncate(24 * time.Hour)
	return day, err == nil && n > 0 && day.Year() <= 9999
}

// parseStatus returns the count of one request with an HTTP status.
func parseStatus(text string) (Counts, bool) {
	status, err := strconv.Atoi(text)
	if err != nil || status < 200 || status > 599 {
		return Counts{}, false
	}
	if status < 400 {
		return Counts{Successful: 1}, true
	}
	if status < 500 {
		return Counts{ClientErrors: 1}, true
	}
	return Counts{ServerErrors: 1}, true
}
