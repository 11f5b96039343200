"""Pays for one address with the HTTP API. It needs Python's standard library alone.

The agent has no wallet: the mandate is registered on the chain, and the service signs.
Call it with the paid URL and a name for the purchase. A call with the same name is the same purchase.
"""

import base64
import json
import os
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SERVICE = os.environ["COUNTERSIGN_URL"] + "/api/v1"
API_KEY = os.environ["COUNTERSIGN_API_KEY"]
MANDATE = os.environ["COUNTERSIGN_MANDATE"]
SELLER, RESOURCE = os.environ["SELLER"], os.environ["RESOURCE"]


def send(url, body=None, headers=None):
    """The status, the headers and the text of an answer. A body is sent as JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data=data, headers={"content-type": "application/json", **(headers or {})})
    try:
        with urlopen(request, timeout=40) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except HTTPError as answer:
        return answer.code, answer.headers, answer.read().decode()


def ask(path, body=None):
    """The answer of the service. A refusal ends the program with its reason and with what can be done."""
    status, _, text = send(SERVICE + path, body, {"authorization": "Bearer " + API_KEY})
    answer = json.loads(text)
    if status >= 400:
        steps = [step["label"] for step in answer["nextActions"]]
        sys.exit(" ".join([answer["code"] + ":", answer["detail"], *steps]))
    return answer


def await_person(reason):
    """Waits until a person decides. Each request waits for 30 seconds at most."""
    print("A person must approve this payment, at", reason["href"], file=sys.stderr)
    while True:
        status = ask(reason["pollWith"]["path"].removeprefix("/api/v1"))["intent"]["status"]
        if status in ("approved", "authorized", "executing", "completed"):
            return
        if status not in ("previewed", "awaiting_approval"):
            sys.exit("Nothing was paid: the request is " + status + ".")


def pay(url, operation):
    """Returns the seller's answer, and pays if the seller asks for it."""
    status, headers, text = send(url)
    if status != 402:
        return text
    challenge = json.loads(base64.b64decode(headers["payment-required"]))
    asset = ask("/mandates/" + MANDATE + "/remaining")["asset"]
    wanted = (asset["chain"], asset["tokenAddress"].lower())
    offer = next(one for one in challenge["accepts"] if (one["network"], one["asset"].lower()) == wanted)
    intent = {
        "idempotencyKey": operation,
        "seller": {"sellerId": SELLER},
        "resource": {"resourceId": RESOURCE},
        "amount": format(Decimal(offer["amount"]).scaleb(-asset["tokenDecimals"]).normalize(), "f"),
        "asset": asset["asset"],
        "chain": asset["chain"],
        "challenge": challenge,
        "expiresAt": (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    authorization = ask("/payments/authorize", {"mandateId": MANDATE, "intent": intent})
    decision = authorization["policyDecision"]
    if decision["outcome"] == "deny":
        sys.exit(" ".join(reason["message"] for reason in decision["reasons"] if reason["effect"] == "deny"))
    if decision["outcome"] == "requireApproval":
        await_person(next(reason for reason in decision["reasons"] if reason["effect"] == "approval" and "href" in reason))
    authorization_id = authorization["authorizationId"]
    execution = ask("/payments/execute", {"authorizationId": authorization_id, "idempotencyKey": authorization_id})
    status, _, text = send(url, headers=execution["credentialHeaders"])
    if status >= 400:
        paid = execution["executionId"] + " is " + execution["settlementStatus"]
        sys.exit(f"The seller answered {status}. A seller serves a payment once, and the payment {paid}. Do not pay again.")
    return text


print(pay(sys.argv[1], sys.argv[2]))
