package samtemplate

const (
	typeAPI      = "AWS::Serverless::Api"
	typeFunction = "AWS::Serverless::Function"
	typeTable    = "AWS::DynamoDB::Table"
	typeQueue    = "AWS::SQS::Queue"
	typeAlarm    = "AWS::CloudWatch::Alarm"
	typeLogGroup = "AWS::Logs::LogGroup"
	typeRole     = "AWS::IAM::Role"
	typeAccount  = "AWS::ApiGateway::Account"
)

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
	case typeLogGroup, typeRole, typeAccount, typeAlarm: // known and not played: resolved, so that what they refer to exists
	default:
		d.fail(n, "the resource type %s is not known", found.typ)
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
	}
	return "", false
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
