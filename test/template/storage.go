package template

import (
	"maps"
	"slices"
)

// checkTables: kept when the stack goes, restorable, encrypted by a key of the account, named in the outputs; only Traffic forgets.
func checkTables(c *checker) {
	for _, table := range c.ofType("AWS::DynamoDB::Table") {
		c.want("DeletionPolicy of "+table.LogicalID, table.DeletionPolicy, "Retain")
		c.want("UpdateReplacePolicy of "+table.LogicalID, table.UpdateReplacePolicy, "Retain")
		c.want("point-in-time recovery of "+table.LogicalID, At(table.Properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"), true)
		c.want("SSESpecification of "+table.LogicalID, At(table.Properties, "SSESpecification", "SSEEnabled"), true)
	}
	expiring := map[string]string{"Traffic": "expiresAt"}
	for _, table := range c.t.Tables {
		c.want("the time to live of "+table.LogicalID, table.TTLAttribute, expiring[table.LogicalID])
		c.want("the output "+table.LogicalID+"Table", c.t.Outputs[table.LogicalID+"Table"], table.Name)
	}
}

// checkQueues: what could not be done is kept as long as a queue can, encrypted.
func checkQueues(c *checker) {
	const longest = 14 * 24 * 3600 // seconds
	for _, queue := range c.ofType("AWS::SQS::Queue") {
		c.want("MessageRetentionPeriod of "+queue.LogicalID, queue.Properties["MessageRetentionPeriod"], longest)
		c.want("SqsManagedSseEnabled of "+queue.LogicalID, queue.Properties["SqsManagedSseEnabled"], true)
	}
}

// checkTopic: there is one, encrypted by a key that CloudWatch may use, and the address is subscribed to it.
func checkTopic(c *checker) {
	c.want("the key of AlarmTopic", c.resource(alarmTopic, "AWS::SNS::Topic")["KmsMasterKeyId"], "AlarmKey")
	key := c.resource("AlarmKey", "AWS::KMS::Key")
	c.want("EnableKeyRotation of AlarmKey", key["EnableKeyRotation"], true)
	c.compare("key AlarmKey", c.statements(key["KeyPolicy"]), map[string]bool{
		"kms:* by root": true, "kms:Decrypt by cloudwatch.amazonaws.com": true, "kms:GenerateDataKey by cloudwatch.amazonaws.com": true,
	})
	for _, subscription := range c.ofType("AWS::SNS::Subscription") {
		c.want("the topic of "+subscription.LogicalID, subscription.Properties["TopicArn"], alarmTopic)
	}
}

const alarmTopic = "AlarmTopic"

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
