ALTER TABLE "api_keys" ADD COLUMN "rate_limits" jsonb;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "rate_limits" jsonb;--> statement-breakpoint
ALTER TABLE "guardrails" ADD COLUMN "rate_limits" jsonb;