import { accessSettings } from './settings/access.ts'
import { exportSettings } from './settings/export.ts'
import { metricsSettings } from './settings/metrics.ts'
import { modelSettings } from './settings/models.ts'
import { providerSettings } from './settings/providers.ts'
import { serverSettings } from './settings/server.ts'
import { signOnSettings } from './settings/sign-on.ts'
import { storageSettings } from './settings/storage.ts'
import { toolSettings } from './settings/tools.ts'
import { webSettings } from './settings/web.ts'

/** By the headings of the reference page. */
export const settingAreas = {
  'Server, logs and shutdown': serverSettings,
  Metrics: metricsSettings,
  'Secrets and first access': accessSettings,
  'Single sign-on (OpenID Connect)': signOnSettings,
  'Calls to providers': providerSettings,
  'Web search and fetch': webSettings,
  'Storage, retention and caches': storageSettings,
  Observability: exportSettings,
  'Models, prices and word lists': modelSettings,
  'Server tools and files': toolSettings,
}

/** Every setting. Precedence: flag, environment, sluice.yaml, default. */
export const settings = {
  ...serverSettings,
  ...metricsSettings,
  ...accessSettings,
  ...signOnSettings,
  ...providerSettings,
  ...webSettings,
  ...storageSettings,
  ...exportSettings,
  ...modelSettings,
  ...toolSettings,
}
