package samtemplate

import "slices"

const (
	typeAPI      = "AWS::Serverless::Api"
	typeFunction = "AWS::Serverless::Function"
	typeTable    = "AWS::DynamoDB::Table"
	typeQueue    = "AWS::SQS::Queue"
	typeAlarm    = "AWS::CloudWatch::Alarm"
	typeLogGroup = "AWS::Logs::LogGroup"
	typeRole     = "AWS::IAM::Role"
	typeAccount  = "AWS::ApiGateway::Account"
	typeDomain   = "AWS::ApiGateway::DomainName"
	typePolicy   = "AWS::IAM::Policy"
)

// notPlayed are the types that mean nothing on one machine. They are resolved, so that what they refer to exists.
func notPlayed(typ string) bool {
	return slices.Contains([]string{
		typeLogGroup, typeRole, typePolicy, typeAccount, typeAlarm, typeDomain, "AWS::ApiGateway::BasePathMapping",
		"AWS::CloudWatch::Dashboard", "AWS::KMS::Key", "AWS::Logs::MetricFilter", "AWS::Route53::RecordSet", "AWS::SNS::Subscription",
		"AWS::SNS::Topic",
	}, typ)
}

// resource is one resource of the template, its properties not yet taken apart.
type resource struct {
	id, typ                             string
	n                                   *node
	condition                           *node // nil: always made
	dependsOn                           []string
	deletionPolicy, updateReplacePolicy string
	metadata, properties                *node
}

func readResource(d *decoder, id string, n *node) *resource {
	o := d.object(n)
	found := &resource{
		id: id, n: n, typ: o.needText("Type"), condition: o.get("Condition"), dependsOn: o.texts("DependsOn"),
		deletionPolicy: o.text("DeletionPolicy"), updateReplacePolicy: o.text("UpdateReplacePolicy"),
		metadata: o.child("Metadata").n, properties: o.child("Properties").n,
	}
	o.done()
	if found.condition != nil && found.condition.kind != scalar {
		d.fail(found.condition, "must be the name of a condition")
	}
	switch found.typ {
	case typeAPI, typeFunction, typeTable, typeQueue:
	default:
		if !notPlayed(found.typ) {
			d.fail(n, "the resource type %s is not known", found.typ)
		}
	}
	return found
}

// attribute gives what Fn::GetAtt gives: an ARN of AWS's form, by which one resource can be told from another.
func (r *resource) attribute(s Settings, name string) (string, bool) {
	arn := func(service, region, rest string) (string, bool) {
		return "arn:" + partition + ":" + service + ":" + region + ":" + s.AccountID + ":" + rest, true
	}
	switch {
	case r.typ == typeTable && name == "Arn":
		return arn("dynamodb", s.Region, "table/"+r.id)
	case r.typ == typeTable && name == "StreamArn" && r.streams():
		return arn("dynamodb", s.Region, "table/"+r.id+"/stream/2000-01-01T00:00:00.000")
	case r.typ == typeFunction && name == "Arn":
		return arn("lambda", s.Region, "function:"+r.id)
	case r.typ == typeQueue && name == "Arn":
		return arn("sqs", s.Region, r.id)
	case r.typ == typeQueue && name == "QueueName":
		return r.id, true
	case r.typ == typeLogGroup && name == "Arn":
		return arn("logs", s.Region, "log-group:"+r.id+":*")
	case r.typ == typeRole && name == "Arn":
		return arn("iam", "", "role/"+r.id)
	case r.typ == typeAlarm && name == "Arn":
		return arn("cloudwatch", s.Region, "alarm:"+r.id)
	case r.typ == typeDomain && name == "RegionalDomainName":
		return r.id + ".execute-api." + s.Region + "." + urlSuffix, true
	case r.typ == typeDomain && name == "RegionalHostedZoneId":
		return "Z0000000000000", true
	}
	return "", false
}

// part gives what a Ref to a part that SAM makes of a resource gives: Function.Alias, whose value is an ARN, and Api.Stage.
func (r *resource) part(s Settings, name string) (value *node, ok bool) {
	switch {
	case r.typ == typeFunction && name == "Alias" && r.alias() != nil:
		arn, _ := r.attribute(s, "Arn")
		return r.n.like(arn + ":" + r.alias().text), true
	case r.typ == typeAPI && name == "Stage":
		return r.properties.fields["StageName"], r.properties.fields["StageName"] != nil
	}
	return nil, false
}

// alias gives the name of a function's alias; nil: it has none.
func (r *resource) alias() *node {
	if name := r.properties.fields["AutoPublishAlias"]; name != nil && name.kind == scalar {
		return name
	}
	return nil
}

// byARN finds the resource of a type whose attribute is that ARN; nil: none.
func (r *resolver) byARN(typ, attribute, arn string) *resource {
	for _, found := range r.resources {
		if own, ok := found.attribute(r.settings, attribute); ok && found.typ == typ && own == arn {
			return found
		}
	}
	return nil
}

// functionByARN finds a function by its ARN or its alias's; nil: none.
func (r *resolver) functionByARN(arn string) *resource {
	if found := r.byARN(typeFunction, "Arn", arn); found != nil {
		return found
	}
	for _, found := range r.resources {
		if alias, ok := found.part(r.settings, "Alias"); ok && alias.text == arn {
			return found
		}
	}
	return nil
}

// streams says whether a table has a stream, and so an ARN of it.
func (r *resource) streams() bool {
	return r.properties.fields["StreamSpecification"] != nil
}

func (r *resource) export() Resource {
	out := Resource{
		LogicalID: r.id, Type: r.typ, Line: r.n.line, DependsOn: r.dependsOn, DeletionPolicy: r.deletionPolicy,
		UpdateReplacePolicy: r.updateReplacePolicy, Metadata: map[string]any{}, Properties: map[string]any{},
	}
	for _, key := range r.metadata.keys {
		out.Metadata[key] = r.metadata.fields[key].value()
	}
	for _, key := range r.properties.keys {
		out.Properties[key] = r.properties.fields[key].value()
	}
	return out
}
