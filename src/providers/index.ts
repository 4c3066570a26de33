import type { ProviderKind } from '../core/snapshot.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { compatible } from './call.ts'
import { demo } from './demo.ts'
import type { Provider } from './provider.ts'
import { vertex } from './vertex.ts'

/** Which code prepares a call, by the kind of provider. */
export const providers = { compatible, demo, bedrock, azure, vertex } satisfies Record<ProviderKind, Provider>
