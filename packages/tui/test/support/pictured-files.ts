/** The files of the pictured project: as they were at first, and as agents wrote them. */
export const INITIAL_FILES: Readonly<Record<string, string>> = {
  "src/payments/client.ts":
    'import { part1 } from "./part1.ts";\nimport { part2 } from "./part2.ts";\nimport { part3 } from "./part3.ts";\nimport { part4 } from "./part4.ts";\nimport { part5 } from "./part5.ts";\nimport { part6 } from "./part6.ts";\nimport { part7 } from "./part7.ts";\nimport { part8 } from "./part8.ts";\nimport { part9 } from "./part9.ts";\nimport { part10 } from "./part10.ts";\nimport { part11 } from "./part11.ts";\nimport { part12 } from "./part12.ts";\nimport { part13 } from "./part13.ts";\nimport { part14 } from "./part14.ts";\nimport { part15 } from "./part15.ts";\n\nclass PaymentClient {\n  async charge(request: ChargeRequest): Promise<Charge> {\n    const response = await this.http.post("/charges", request);\n    return parseCharge(response);\n  }\n\n  step1() {}\n  step2() {}\n  step3() {}\n  step4() {}\n  step5() {}\n  step6() {}\n  step7() {}\n  step8() {}\n  step9() {}\n  step10() {}\n  step11() {}\n  step12() {}\n  step13() {}\n  step14() {}\n  step15() {}\n  step16() {}\n  step17() {}\n}\n\nfunction isTransient(error: HttpError): boolean {\n  return error.status === 503;\n}\n',
  "src/payments/legacy-retry.ts": "export const retries = 1;\n",
  "test/__snapshots__/client.snap": "status 503\n",
  "package.json": '{ "name": "payments-api" }\n',
  "README.md": "payments-api\n",
  "src/webhook.ts": "export const attempts = 1;\n",
  "test/webhook.test.ts": "test(1);\n",
  "src/tokens.ts": "export const tokens = 1;\n",
  "src/cache.ts": "export const cache = 1;\n",
  "src/config.ts": "export const config = 1;\n",
  "src/payments/charge.ts": "export const charge = 1;\n",
  "src/payments/refund.ts": "export const refund = 1;\n",
  "docs/openapi.yaml": "openapi: 3.1.0\n",
  "docs/flow.png": "flow\n",
  "docs/retry.md": "retry\n",
};

export const LATER_FILES: Readonly<Record<string, string>> = {
  "src/payments/client.ts":
    'import { part1 } from "./part1.ts";\nimport { part2 } from "./part2.ts";\nimport { part3 } from "./part3.ts";\nimport { part4 } from "./part4.ts";\nimport { part5 } from "./part5.ts";\nimport { part6 } from "./part6.ts";\nimport { part7 } from "./part7.ts";\nimport { part8 } from "./part8.ts";\nimport { part9 } from "./part9.ts";\nimport { part10 } from "./part10.ts";\nimport { part11 } from "./part11.ts";\nimport { part12 } from "./part12.ts";\nimport { part13 } from "./part13.ts";\nimport { part14 } from "./part14.ts";\nimport { part15 } from "./part15.ts";\n\nclass PaymentClient {\n  async charge(request: ChargeRequest): Promise<Charge> {\n    const response = await withBackoff(() =>\n      this.http.post("/charges", request, { key: request.key }),\n      { attempts: 5, baseMs: 250, retryOn: isTransient },\n    );\n    return parseCharge(response);\n  }\n\n  step1() {}\n  step2() {}\n  step3() {}\n  step4() {}\n  step5() {}\n  step6() {}\n  step7() {}\n  step8() {}\n  step9() {}\n  step10() {}\n  step11() {}\n  step12() {}\n  step13() {}\n  step14() {}\n  step15() {}\n  step16() {}\n  step17() {}\n}\n\nfunction isTransient(error: HttpError): boolean {\n  return error.status === 429 || error.status >= 500;\n}\n',
  "budget src/payments/client.ts":
    'import { part1 } from "./part1.ts";\nimport { part2 } from "./part2.ts";\nimport { part3 } from "./part3.ts";\nimport { part4 } from "./part4.ts";\nimport { part5 } from "./part5.ts";\nimport { part6 } from "./part6.ts";\nimport { part7 } from "./part7.ts";\nimport { part8 } from "./part8.ts";\nimport { part9 } from "./part9.ts";\nimport { part10 } from "./part10.ts";\nimport { part11 } from "./part11.ts";\nimport { part12 } from "./part12.ts";\nimport { part13 } from "./part13.ts";\nimport { part14 } from "./part14.ts";\nimport { part15 } from "./part15.ts";\n\nclass PaymentClient {\n  async charge(request: ChargeRequest): Promise<Charge> {\n    const response = await withBackoff(() =>\n      this.http.post("/charges", request, { key: request.key }),\n      { attempts: budget, baseMs: 250, retryOn: isTransient },\n    );\n    return parseCharge(response);\n  }\n\n  step1() {}\n  step2() {}\n  step3() {}\n  step4() {}\n  step5() {}\n  step6() {}\n  step7() {}\n  step8() {}\n  step9() {}\n  step10() {}\n  step11() {}\n  step12() {}\n  step13() {}\n  step14() {}\n  step15() {}\n  step16() {}\n  step17() {}\n}\n\nfunction isTransient(error: HttpError): boolean {\n  return error.status === 429 || error.status >= 500;\n}\n',
  "src/payments/backoff.ts":
    "export function withBackoff() {}\nexport function withBackoff() {}\nexport function withBackoff() {}\n",
  "test/__snapshots__/client.snap": "status 429\nstatus 500\n",
  "package.json": '{ "name": "payments-api", "scripts": { "test": "vitest" } }\n',
  "webhook src/webhook.ts": "export const attempts = 3;\n",
};
