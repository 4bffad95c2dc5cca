package samtemplate

import "time"

// Template is what a SAM template says once Globals are merged, conditions decided and every intrinsic function resolved.
// It is read-only after Load and safe for concurrent use.
type Template struct {
	API       API
	Functions []Function // in the order of the template
	Tables    []Table    // in the order of the template
	Queues    []string   // logical ids, in the order of the template
	Outputs   map[string]string
	Resources []Resource // all of them, also those above, in the order of the template
}

// Resource is one resource as it stands in the template, Globals merged and everything resolved: for checks of what the other types
// leave out.
type Resource struct {
	LogicalID           string
	Type                string
	Line                int
	DependsOn           []string
	DeletionPolicy      string // empty where not given
	UpdateReplacePolicy string
	Metadata            map[string]any
	Properties          map[string]any // maps, lists ([]any), strings, bools and, for numbers, int or float64
}

// API is the template's one AWS::Serverless::Api.
type API struct {
	LogicalID        string
	Stage            string
	Authorizer       Authorizer
	Routes           []Route
	GatewayResponses map[string]GatewayResponse // by type: UNAUTHORIZED, DEFAULT_4XX, …
	AccessLogFormat  string                     // with its $context variables; empty where the template has no access log
	AccessLogGroup   string                     // logical id; empty where the access log goes to no log group of the template
}

// Authorizer is the API's default Lambda authorizer (payload type REQUEST).
type Authorizer struct {
	Name            string
	Function        string   // logical id
	IdentityHeaders []string // names of the headers that are identity sources
	TTL             time.Duration
}

// Route sends one method of one resource path to a function.
type Route struct {
	Path       string // resource path: /api/admin/feedback/{id}, /{proxy+}
	Method     string // GET, PUT, … or ANY
	Function   string // logical id
	Authorized bool   // the API's authorizer decides first
}

// GatewayResponse is how the API answers by itself.
type GatewayResponse struct {
	StatusCode int               // 0: the type's own
	Headers    map[string]string // header name → mapping expression: 'constant' or context.variable
	Templates  map[string]string // media type → body with $context variables
}

// Function is one AWS::Serverless::Function.
type Function struct {
	LogicalID   string
	Name        string // its folder: functions/<Name>
	MemoryMB    int
	Timeout     time.Duration
	Environment map[string]string
	Role        string      // logical id; empty: SAM makes one
	Policies    []Statement // of the function itself, or of its role

	// What calls it beside the API's routes.
	Streams          []Stream
	Schedules        []Schedule
	LogSubscriptions []LogSubscription

	// How asynchronous calls of it (schedules and log subscriptions) go on after an error.
	AsyncRetries   int    // 0 to 2
	AsyncOnFailure string // logical id of the queue for events that are given up; empty: none
}

// Stream is an event source mapping of a table's stream.
type Stream struct {
	Table                 string // logical id
	StartingPosition      string // TRIM_HORIZON or LATEST
	BatchSize             int    // records of one call at most
	BatchingWindow        time.Duration
	RetryAttempts         int           // -1: until the record expires
	RecordAge             time.Duration // records that are older are given up; -1…0: no limit
	Bisect                bool          // a batch is split after an error
	ParallelizationFactor int
	ReportFailures        bool   // the function's batchItemFailures count
	OnFailure             string // logical id of the queue for what is given up; empty: none
}

// Schedule calls a function at a fixed rate.
type Schedule struct {
	Name          string
	Every         time.Duration
	RetryAttempts int // of handing the event over to Lambda, which itself tries AsyncRetries more times after a function's error
}

// LogSubscription sends a log group's events to a function.
type LogSubscription struct {
	LogGroup string // logical id
}

// Statement is one statement of a function's inline policy.
type Statement struct {
	Effect    string
	Actions   []string
	Resources []string // ARNs, resolved
}

// Table is one AWS::DynamoDB::Table.
type Table struct {
	LogicalID      string
	Name           string // what Ref gives: the physical name
	Hash, Range    Attribute
	Indexes        []Index
	StreamViewType string // empty: no stream
	TTLAttribute   string // empty: no time to live
}

// Attribute is a key attribute. A table or index without range key has a zero Range.
type Attribute struct {
	Name string
	Type string // S, N or B
}

// Index is a global secondary index.
type Index struct {
	Name        string
	Hash, Range Attribute
	Projection  string // ALL, KEYS_ONLY or INCLUDE
	// NonKeyAttributes are the attributes that an INCLUDE projection adds.
	NonKeyAttributes []string
}
