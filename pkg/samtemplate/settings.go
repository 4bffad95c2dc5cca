package samtemplate

// Settings is what CloudFormation would know at a deployment.
type Settings struct {
	// Parameters overrides the defaults of the template's parameters. A name that the template does not have is an error.
	Parameters map[string]string
	Region     string // AWS::Region; default us-east-1
	AccountID  string // AWS::AccountId; default 000000000000
	StackName  string // AWS::StackName; default local
}

const (
	partition = "aws"
	urlSuffix = "amazonaws.com"
)

func (s Settings) withDefaults() Settings {
	if s.Region == "" {
		s.Region = "us-east-1"
	}
	if s.AccountID == "" {
		s.AccountID = "000000000000"
	}
	if s.StackName == "" {
		s.StackName = "local"
	}
	return s
}

// pseudo gives the value of a pseudo parameter. AWS::NoValue is none of them: it has no value.
func (s Settings) pseudo(name string) (string, bool) {
	switch name {
	case "AWS::Region":
		return s.Region, true
	case "AWS::AccountId":
		return s.AccountID, true
	case "AWS::StackName":
		return s.StackName, true
	case "AWS::StackId":
		return "arn:" + partition + ":cloudformation:" + s.Region + ":" + s.AccountID + ":stack/" + s.StackName + "/local", true
	case "AWS::Partition":
		return partition, true
	case "AWS::URLSuffix":
		return urlSuffix, true
	}
	return "", false
}
