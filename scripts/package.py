"""Writes a plain CloudFormation template, without SAM's transform, and the zip files of the functions into a folder. With a bucket, also
uploads the files. Runs in the SAM CLI's virtual environment:

    scripts/python-tool.sh python scripts/package.py TEMPLATE FOLDER CONFIG [BUCKET]

TEMPLATE is the output of sam build. The parameters of the environment CONFIG of samconfig.toml become defaults. The plain template has no
parameters that only the transform uses, AuthorizerCacheSeconds and DeploymentPreference: it contains the result for their values. It has
another parameter, ArtifactBucket. The same build gives the same files.
"""

import hashlib
import json
import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import boto3
import tomlkit
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

PREFIX = "toggleadmin/"  # of the keys in the bucket


def pack(folder, target):
    """Zips the folder of a function and returns the name of the zip, which contains the hash of the files."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    contents = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()
    name = f"{folder.name}-{contents[:16]}.zip"
    with zipfile.ZipFile(target / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(str(file.relative_to(folder)))  # dated 1980-01-01
            entry.external_attr, entry.compress_type = 0o755 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    return name


def translate(sam, values, bucket):
    """Returns the plain template as JSON."""
    sam["Resources"]["Api"]["Properties"]["AlwaysDeploy"] = False  # it would put the time into a logical ID
    for name, value in values.items():
        parameter = sam["Parameters"][name]
        parameter["Default"] = int(value) if parameter["Type"] == "Number" else value
    plain = json.loads(json.dumps(transform(sam, values, None)))
    del plain["Metadata"]
    for resource in plain["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Function":
            resource["Properties"]["Code"]["S3Bucket"] = {"Ref": "ArtifactBucket"}
    for name in "AuthorizerCacheSeconds", "DeploymentPreference":
        value = plain["Parameters"].pop(name)["Default"]
        plain = json.loads(json.dumps(plain).replace(json.dumps({"Ref": name}), json.dumps(value)))
    del plain["Mappings"]["Gradual"]
    if not plain["Mappings"]:
        del plain["Mappings"]
    description = "The bucket, in the region of the stack, with the zip files of the functions under toggleadmin/."
    plain["Parameters"]["ArtifactBucket"] = {"Type": "String", "Description": description}
    if bucket:
        plain["Parameters"]["ArtifactBucket"]["Default"] = bucket
    # Every change of the template deploys the API again.
    text = json.dumps(plain, indent=1) + "\n"
    deployment = re.search(r"ApiDeployment[0-9a-f]{10}", text).group()
    return text.replace(deployment, "ApiDeployment" + hashlib.sha256(text.encode()).hexdigest()[:10])


def main(template, folder, config, bucket=""):
    template, folder = pathlib.Path(template), pathlib.Path(folder)
    settings = tomlkit.parse(pathlib.Path("samconfig.toml").read_text()).unwrap()[config]["deploy"]["parameters"]
    values = dict(pair.split("=", 1) for pair in settings["parameter_overrides"])
    values["Version"] = subprocess.check_output([pathlib.Path(__file__).with_name("version.sh")], text=True).strip()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sam = yaml_parse(template.read_text())
    for resource in sam["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            zipped = pack(template.parent / resource["Properties"]["CodeUri"], folder)
            resource["Properties"]["CodeUri"] = {"Bucket": "artifacts", "Key": PREFIX + zipped}
    (folder / "template.json").write_text(translate(sam, values, bucket))
    if bucket:
        s3 = boto3.client("s3")
        for file in sorted(folder.iterdir()):
            s3.upload_file(str(file), bucket, PREFIX + file.name)
            print(f"s3://{bucket}/{PREFIX}{file.name}")


os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")  # the region only decides the partition, such as aws
logging.disable(logging.WARNING)  # the transform warns about features that are not set
main(*sys.argv[1:])
