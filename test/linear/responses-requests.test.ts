import { responsesIngress } from '../../src/dialects/responses/index.ts'
import { documentedBody } from '../../src/dialects/responses/schema.ts'
import { testRequests } from './requests.ts'

testRequests('Responses', responsesIngress, documentedBody, {
  input: [{ role: 'user', content: 'Hi' }],
  previous_response_id: 'resp_1',
})
