package seed

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
)

// The applications that the demonstration has heard from, a server and the pages of the shop. Both use production.
const (
	shopServer = "shop-server"
	shopPages  = "shop-pages"
)

// countUse writes what two applications used in the last 24 hours, as a process of functions/client counts it. The
// sweep computes the rest from it. A repeated call writes the same items.
func (h *history) countUse(ctx context.Context) error {
	running := usage.HourOf(h.now)
	for ago := useHours; ago >= 0; ago-- {
		hour := running.Add(-time.Duration(ago) * time.Hour)
		server, pages := h.useOf(hour)
		if err := h.putPart(ctx, usagetable.KindTally, hour, server); err != nil {
			return err
		}
		if err := h.putPart(ctx, usagetable.KindFrontendTally, hour, pages); err != nil {
			return err
		}
	}
	instance := func(sdk string, frontend bool) map[string]usage.Instance {
		return map[string]usage.Instance{"default": {SDK: sdk, Frontend: frontend, SeenAt: h.now}}
	}
	if err := h.putPart(ctx, usagetable.KindPresence, running, usage.Presence{
		shopServer: {Projects: []string{"*"}, Strategies: []string{"default", "flexibleRollout"},
			Instances: instance("unleash-node-sdk:6.12.1", false)},
	}); err != nil {
		return err
	}
	return h.putPart(ctx, usagetable.KindFrontendPresence, running, usage.Presence{
		shopPages: {Projects: []string{"*"}, Instances: instance("unleash-js-sdk:3.7.8", true)},
	})
}

// useOf returns the use of an hour: more by day, and a larger part of the users since the rollout has changed.
func (h *history) useOf(hour time.Time) (server, pages usage.Tally) {
	byHour := []int64{2, 1, 1, 1, 2, 4, 9, 18, 27, 33, 36, 38, 40, 39, 37, 35, 34, 36, 38, 35, 28, 19, 10, 5}
	seen := hour.Add(time.Hour - time.Second)
	if seen.After(h.now) {
		seen = h.now
	}
	server, pages = usage.NewTally(), usage.NewTally()
	add := func(tally usage.Tally, feature, application string, asked, percent int64, variants ...string) {
		on := asked * percent / 100
		counts := usage.Counts{Yes: on, No: asked - on}
		for i, name := range variants {
			if counts.Variants == nil {
				counts.Variants = map[string]int64{}
			}
			counts.Variants[name] = (on + int64(i)) / int64(len(variants))
		}
		tally.Add(feature, application, counts)
		tally.See(feature, seen)
	}
	n := byHour[hour.Hour()]
	percent := int64(10)
	if !hour.Before(usage.HourOf(h.now.Add(-rolloutAgo))) {
		percent = 25
	}
	add(server, "new-checkout", shopServer, 40*n, percent, "blue", "green")
	add(server, "search-ranking", shopServer, 30*n, 50, "by-date", "by-score")
	add(server, "stop-payments", shopServer, 60*n, 0)
	add(pages, "new-checkout", shopPages, 25*n, percent, "blue", "green")
	pages.AddUnknown("new-chekout", shopPages, n)
	return server, pages
}

func (h *history) putPart(ctx context.Context, kind usagetable.Kind, hour time.Time, content any) error {
	item, err := usagetable.MarshalPart(usagetable.Part{
		Kind: kind, Hour: hour, Environment: production, ID: "demonstration", Writes: 1, WrittenAt: h.now,
	}, content)
	if err != nil {
		return fmt.Errorf("count the use of a day: %w", err)
	}
	table := h.Tables[usagetable.Table]
	if _, err := h.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		return fmt.Errorf("count the use of a day: %w", err)
	}
	return nil
}
