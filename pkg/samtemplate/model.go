package samtemplate

import (
	"encoding/json"
	"time"
)

// Template is a SAM template with Globals merged, conditions applied and intrinsic functions resolved. It is read-only
// after Load and safe for concurrent use.
type Template struct {
	API       API
	Functions []Function // in the order of the template
	Tables    []Table    // in the order of the template
	Queues    []Queue    // in the order of the template
	Rules     []Rule     // in the order of the template
	Outputs   map[string]string
	Resources []Resource // every resource that is created, in the order of the template
}

// TableNames returns the names of the tables by logical id.
func (t *Template) TableNames() map[string]string {
	names := map[string]string{}
	for _, table := range t.Tables {
		names[table.Name] = table.Name
	}
	return names
}

// Resource is a resource of any type, for checks that the typed parts of the model do not cover.
type Resource struct {
	LogicalID           string
	Type                string
	DeletionPolicy      string // empty if not set
	UpdateReplacePolicy string // empty if not set
	Metadata            map[string]any
	Properties          map[string]any // resolved: maps, lists ([]any), strings, bools, ints and floats
}

// API is the template's one AWS::Serverless::Api.
type API struct {
	LogicalID        string
	Stage            string
	Authorizer       Authorizer
	Routes           []Route
	GatewayResponses map[string]GatewayResponse // by type: UNAUTHORIZED, DEFAULT_4XX, …

	MinimumCompressionSize *int // bytes; nil: responses are not compressed

	AccessLogFormat string // with its $context variables; empty without an access log
	AccessLogGroup  string // logical id; empty without an access log
}

// Authorizer is the API's default Lambda authorizer of type REQUEST.
type Authorizer struct {
	Name     string
	Function string // logical id
	TTL      time.Duration
}

// Route sends one method of one resource path to a function.
type Route struct {
	Path       string // resource path: /api/admin/feedback/{id}, /{proxy+}
	Method     string // GET, PUT, … or ANY
	Function   string // logical id
	Role       string // logical id of the role that invokes the function; empty: a permission allows it
	Authorized bool   // the API's authorizer runs first
}

// GatewayResponse is a customized response that API Gateway returns itself.
type GatewayResponse struct {
	StatusCode         int // 0: the default of the type
	ResponseParameters struct {
		Headers map[string]string // header name → 'constant' or context.variable
	}
	ResponseTemplates map[string]string // media type → body with $context variables
}

// Function is one AWS::Serverless::Function.
type Function struct {
	LogicalID   string
	Name        string // its folder: functions/<Name>
	Timeout     time.Duration
	Environment map[string]string
	Role        string      // logical id; empty if SAM creates one
	Policies    []Statement // of the role
	HasURL      bool        // whether it has a function URL, which anyone can call

	// Triggers other than the API's routes.
	Streams          []Stream
	Queues           []QueueMapping
	Schedules        []Schedule
	LogSubscriptions []LogSubscription

	// Handling of failed asynchronous invocations, which schedules and log subscriptions make.
	AsyncRetries   int    // 0 to 2
	AsyncOnFailure string // logical id of the queue for events that failed every time; empty: none
}

// Stream is an event source mapping of a table's stream. The function returns batchItemFailures.
type Stream struct {
	Table         string // logical id
	BatchSize     int    // most records of one invocation
	RetryAttempts int    // -1: until the record expires
	OnFailure     string // logical id of the queue for discarded records; empty: none
	// EventNames are the kinds of records that are delivered, such as INSERT; nil: all.
	EventNames []string `json:",omitempty"`
}

// Queue is one AWS::SQS::Queue.
type Queue struct {
	LogicalID         string
	VisibilityTimeout time.Duration
	DeadLetterQueue   string // logical id; empty: none
	MaxReceiveCount   int    // number of receives after which a message is moved to DeadLetterQueue
}

// QueueMapping is an event source mapping of a queue.
type QueueMapping struct {
	Queue     string // logical id
	BatchSize int    // most messages of one invocation
}

// Rule sends the detail of events of the service to a queue.
type Rule struct {
	Queue string   // logical id
	Types []string // detail types; nil: all
}

// Schedule invokes a function at a fixed rate.
type Schedule struct {
	Name  string
	Every time.Duration
}

// LogSubscription sends a log group's events to a function.
type LogSubscription struct {
	LogGroup string // logical id
}

// Statement is one statement of a role's inline policy.
type Statement struct {
	Effect    string
	Actions   Texts                          `json:"Action"`
	Resources Texts                          `json:"Resource"` // resolved ARNs
	Condition map[string]map[string][]string // operator → key → values
}

// Texts are texts, of which the template can write a single one without a list.
type Texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(content []byte) error {
	if content[0] == '[' {
		return json.Unmarshal(content, (*[]string)(t))
	}
	*t = Texts{""}
	return json.Unmarshal(content, &(*t)[0])
}

// Table is one AWS::DynamoDB::Table.
type Table struct {
	Name           string // the logical id, which is also the physical name that Ref returns
	Hash, Range    Attribute
	Indexes        []Index
	StreamViewType string // empty: no stream
	TTLAttribute   string // empty: no time to live
}

// Attribute is a key attribute. A table or index without a range key has a zero Range.
type Attribute struct {
	Name string
	Type string // S, N or B
}

// Index is a global secondary index.
type Index struct {
	Name        string
	Hash, Range Attribute
	Projection  string // ALL, KEYS_ONLY or INCLUDE
	// NonKeyAttributes are the other attributes that an index with INCLUDE contains.
	NonKeyAttributes []string
}
