package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	changesRounds    = 7
	changesOfRequest = 30
	closedRequests   = 10_000
	applyGoal        = 300 // ms
	listGoal         = 100 // ms
)

// measureChanges measures the requests about change requests: those with as many changes as there can be, and lists in a
// project with many closed ones.
func measureChanges(ctx context.Context, o options) {
	c := &changes{startService(ctx, o, o.memory+"/changes"), ""}
	defer c.stop()
	c.prepare(ctx)
	c.measureRequests(ctx)
	c.measureLists(ctx)
}

// changes is a service in which production needs an approval.
type changes struct {
	*service
	approver string // the token of an Admin who approves
}

// prepare adds the toggles that requests change, and an Admin who approves.
func (c *changes) prepare(ctx context.Context) {
	log := eventlog.Discard(c.client, time.Now)
	now := time.Now()
	u := must(user.NewStore(c.client, c.tables, log).Add(ctx, user.User{
		Kind: user.Person, Name: "Ada Lovelace", Email: "ada.lovelace@example.com", Role: access.RoleAdmin, CreatedAt: &now,
	}, user.DefaultLimit))
	_, token, err := pat.NewStore(c.client, c.tables, log, rand.Reader).Create(ctx,
		pat.PAT{UserID: u.ID, Description: "laptop", CreatedAt: now, ExpiresAt: now.AddDate(0, 1, 0)},
		pat.Owner{Kind: user.Person, Limit: pat.MostPerOwner})
	check(err)
	c.approver = token.Reveal()
	for i := range changesOfRequest {
		c.send(ctx, "POST projects/default/features", c.Users[0].PAT, object{"name": changed(i), "type": "release"})
	}
	c.send(ctx, "PUT projects/default/environments/production/change-requests/config", c.Users[0].PAT,
		object{"changeRequestsEnabled": true, "requiredApprovals": 1})
}

type object map[string]any

func changed(i int) string { return fmt.Sprintf("checkout-step-%02d", i) }

// send sends a request below /api/admin, and returns the response and how long it took.
func (c *changes) send(ctx context.Context, request, token string, body any) (response []byte, took time.Duration) {
	var method, path string
	_ = must(fmt.Sscan(request, &method, &path))
	r := must(http.NewRequestWithContext(ctx, method, c.BaseURL+"/api/admin/"+path, bytes.NewReader(must(json.Marshal(body)))))
	r.Header.Set("Authorization", token)
	r.Header.Set("Content-Type", "application/json")
	started := time.Now()
	got, err := http.DefaultClient.Do(r)
	check(err)
	defer got.Body.Close()
	response = must(io.ReadAll(got.Body))
	if took = time.Since(started); got.StatusCode >= http.StatusBadRequest {
		check(fmt.Errorf("%s: %s: %s", request, got.Status, response))
	}
	return response, took
}

// measureRequests measures what people do with a request from its first change until it is applied.
func (c *changes) measureRequests(ctx context.Context) {
	steps := []string{"add the changes", "In review", "read", "Approved", "Applied"}
	took := map[string][]time.Duration{}
	for round := range changesRounds {
		var list []object
		for i := range changesOfRequest {
			list = append(list, object{"feature": changed(i), "action": "addStrategy",
				"payload": object{"name": "flexibleRollout", "title": fmt.Sprint("round ", round), "parameters": object{
					"rollout": "50", "stickiness": "default", "groupId": changed(i),
				}}})
		}
		made, spent := c.send(ctx, "POST projects/default/environments/production/change-requests", c.Users[0].PAT, list)
		took[steps[0]] = append(took[steps[0]], spent)
		var r struct{ ID int64 }
		check(json.Unmarshal(made, &r))
		path := fmt.Sprint("projects/default/change-requests/", r.ID)
		for _, step := range steps[1:] {
			request, by, body := "PUT "+path+"/state", c.Users[0].PAT, any(object{"state": step})
			switch step {
			case "read":
				request, body = "GET "+path, nil
			case "Approved":
				by = c.approver
			}
			_, spent := c.send(ctx, request, by, body)
			took[step] = append(took[step], spent)
		}
	}
	var rows [][]any
	for _, step := range steps {
		rows = append(rows, []any{step, median(took[step]), applyGoal})
	}
	printTable("Change requests", " step | ms | goal", rows,
		"A request with %d changes of as many toggles in a protected environment, `make run` on data in memory; median of %d rounds.",
		changesOfRequest, changesRounds)
}

// measureLists measures lists of a project with many closed requests, each with three changes.
func (c *changes) measureLists(ctx context.Context) {
	var list []object
	for i := range 3 {
		list = append(list, object{"feature": changed(i), "action": "updateEnabled", "payload": object{"enabled": true}})
	}
	made, _ := c.send(ctx, "POST projects/default/environments/production/change-requests", c.Users[0].PAT, list)
	var r struct{ ID int64 }
	check(json.Unmarshal(made, &r))
	c.send(ctx, fmt.Sprintf("PUT projects/default/change-requests/%d/state", r.ID), c.Users[0].PAT, object{"state": changerequest.Canceled})
	table := c.tables[changerequest.Table]
	closed := must(c.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table,
		Key: dynamo.Item{"key": dynamo.S(strconv.FormatInt(r.ID, 10))}})).Item
	putItems(ctx, c.client, table, closedRequests, func(i int) dynamo.Item {
		id := r.ID + 1 + int64(i)
		item := maps.Clone(dynamo.Item(closed))
		item["key"], item["id"] = dynamo.S(strconv.FormatInt(id, 10)), dynamo.N(id)
		summary := maps.Clone(item.Map("summary"))
		summary["id"] = dynamo.N(id)
		item["summary"] = dynamo.M(summary)
		return item
	})
	log := eventlog.Discard(c.client, time.Now)
	_, found, err := changerequest.NewStore(c.client, c.tables, changerequest.Options{Log: log}).Check(ctx)
	check(err)
	for _, f := range found { // the numbers of the project, and the counter of ids
		check(f.Repair(ctx))
	}
	inProject := "projects/default/change-requests"
	ofCanceled := "?state=IS:" + string(changerequest.Canceled)
	var rows [][]any
	for _, path := range []string{
		inProject, inProject + "?offset=1000", inProject + ofCanceled, inProject + "?state=IS:Approved",
		inProject + "?createdBy=IS:1", inProject + "?createdBy=IS:2", inProject + "/pending", inProject + "/count", inProject + "/actionable",
		"search/change-requests", "search/change-requests" + ofCanceled, "search/change-requests?createdBy=IS:1",
		"search/change-requests?actionable=IS:true",
	} {
		var took []time.Duration
		size := 0
		for range changesRounds {
			response, spent := c.send(ctx, "GET "+path, c.Users[0].PAT, nil)
			took, size = append(took, spent), len(response)
		}
		rows = append(rows, []any{"`" + path + "`", median(took), size / 1000, listGoal})
	}
	printTable("Lists of change requests", " GET /api/admin/ | ms | kB | goal", rows,
		"%d closed requests in the project, `make run` on data in memory; median of %d rounds.", closedRequests, changesRounds)
}
