package main

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
)

// Dollars per million request units, on demand, us-east-1 since November 2024 (aws.amazon.com/dynamodb/pricing/on-demand).
const (
	readPrice  = 0.125
	writePrice = 0.625

	minutesPerMonth = 60 * 24 * 30
)

// printCost says what the counted units would cost on AWS, beside a system that reads all toggles each minute.
func (a *aged) printCost(ctx context.Context, largest *measured) error {
	a.mu.Lock()
	a.units = units{}
	a.mu.Unlock()
	idle := &measured{}
	if err := a.invoke(ctx, a.sweep, a.timeouts["sweep-staleness"], []byte(`{}`), idle); err != nil {
		return err
	}
	page, err := a.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &a.features, Limit: aws.Int32(2000), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return err
	}
	scan := aws.ToFloat64(page.ConsumedCapacity.CapacityUnits) / float64(page.Count) * float64(a.toggles)
	a.mu.Lock()
	sweep := a.units.reads
	a.mu.Unlock()
	flips := float64(largest.Flagged + largest.Unflagged)
	dollars := func(units, price float64) string { return fmt.Sprintf("%.4f", units/1e6*price) }
	month := func(units float64) string { return fmt.Sprintf("%.2f", units*minutesPerMonth/1e6*readPrice) }
	printTable("What it would cost on AWS",
		fmt.Sprintf("Request units counted above, on demand in us-east-1: $%.3f per million reads, $%.3f per million writes; Lambda not included. The "+
			"naive scan reads all %d toggles each minute, eventually consistent, and writes what must change: its writes are the same.",
			readPrice, writePrice, a.toggles),
		[]string{"", "read units", "write units", "$", "$ a month, each minute"},
		[][]string{
			{"a sweep with nothing to do", fmt.Sprintf("%.1f", sweep), "0", dollars(sweep, readPrice), month(sweep)},
			{"a naive scan with nothing to do", fmt.Sprintf("%.0f", scan), "0", dollars(scan, readPrice), month(scan)},
			{"one flip", fmt.Sprintf("%.4f", largest.units.reads/flips), fmt.Sprintf("%.2f", largest.units.writes/flips),
				fmt.Sprintf("%.8f", (largest.units.reads*readPrice+largest.units.writes*writePrice)/1e6/flips), "-"},
			{fmt.Sprintf("%.0f flips", flips), fmt.Sprintf("%.0f", largest.units.reads), fmt.Sprintf("%.0f", largest.units.writes),
				fmt.Sprintf("%.2f", (largest.units.reads*readPrice+largest.units.writes*writePrice)/1e6), "-"},
		})
	return nil
}

// meter counts the units of the functions' calls.
func (a *aged) meter(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Meter", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		switch input := in.Parameters.(type) {
		case *dynamodb.QueryInput:
			input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		case *dynamodb.GetItemInput:
			input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		case *dynamodb.ScanInput:
			input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		case *dynamodb.UpdateItemInput:
			input.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		}
		out, metadata, err := next.HandleInitialize(ctx, in)
		var u units
		switch output := out.Result.(type) {
		case *dynamodb.QueryOutput:
			u.reads = consumed(output.ConsumedCapacity)
		case *dynamodb.GetItemOutput:
			u.reads = consumed(output.ConsumedCapacity)
		case *dynamodb.ScanOutput:
			u.reads = consumed(output.ConsumedCapacity)
		case *dynamodb.UpdateItemOutput:
			u.writes = consumed(output.ConsumedCapacity)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.units.reads += u.reads
		a.units.writes += u.writes
		return out, metadata, err
	}), middleware.After)
}

func consumed(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}

// resetPeak begins a new peak of this process's memory; where the system has no such file, the peak is that since the start.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
