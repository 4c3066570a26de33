ALTER TABLE "guardrails" ADD COLUMN "plugins" jsonb;--> statement-breakpoint
ALTER TABLE "workspaces" ADD COLUMN "plugins" jsonb;