package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/dynamo"
)

// process is a program that makes calls: an instance of a function, or a command of an operator.
type process struct {
	w      *World
	name   string
	hash   uint64
	random *rand.Rand
	ended  chan struct{} // closed when it crashes
	dead   bool
	until  time.Time            // it is frozen until then
	calls  map[uint64]*repeated // by content
	skew   time.Duration
	direct bool       // its calls are carried out at once, without faults
	one    sync.Mutex // held while a direct call is carried out: a program can make several at the same time

	readAt time.Time           // the time of its clock when it got the response to its last read
	types  typeReads           // when it has read feature types
	asked  map[int64]time.Time // when it has read change requests last, by id
	drawn  []int64             // the ids of events in the transactions that are sent now, without their shards
	broken atomic.Bool         // another fault than a throttled call has occurred

	troubled atomic.Int64 // when a call has failed last, in nanoseconds of Unix time

	refused bool // a call was throttled

	handler awslambda.Handler // of an instance of a function
}

// repeated is a call that a process makes once or more often. Equal calls at the same time count once: nothing
// distinguishes them, and which goroutine makes its call first is not determined by the seed.
type repeated struct {
	times       uint64
	first, last time.Time // by the clock of the process
}

func (w *World) newProcess(name string) *process {
	p := &process{
		w: w, name: name, hash: hashOf(name), ended: make(chan struct{}), calls: map[uint64]*repeated{},
		asked: map[int64]time.Time{},
	}
	p.random = w.random(p.hash, 4)
	p.skew = w.skewOf(p)
	return p
}

func (p *process) crash() {
	if !p.dead {
		p.dead = true
		p.w.note("%s crashes", p.name)
		close(p.ended)
	}
}

// Read returns random numbers, as an io.Reader.
func (p *process) Read(b []byte) (int, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for i := range b {
		b[i] = byte(p.random.Uint32())
	}
	return len(b), nil
}

// config is the SDK's configuration of a process.
func (p *process) config() aws.Config {
	return aws.Config{
		Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: smithyhttp.ClientDoFunc(p.RoundTrip),
		APIOptions: []func(*middleware.Stack) error{skipEmpty},
	}
}

// skipEmpty returns the result of a Query of the staleness index at once if no toggle of the world has the shard of the
// partition, as most of the partitions that a re-evaluation reads.
func skipEmpty(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SkipEmpty", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		q, ok := in.Parameters.(*sdk.QueryInput)
		if ok && aws.ToString(q.IndexName) == featuretable.IndexStaleness && !inShard(q.ExpressionAttributeValues) {
			return middleware.InitializeOutput{Result: &sdk.QueryOutput{}}, middleware.Metadata{}, nil
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// inShard reports whether one of the values of a Query is the key of a partition with the shard of the toggles.
func inShard(values dynamo.Item) bool {
	shard := fmt.Sprint("#", featuretable.Shard(toggleNames[0]))
	for name := range values {
		if strings.HasSuffix(values.String(name), shard) {
			return true
		}
	}
	return false
}
