CREATE TABLE "export_outbox" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"committed_at" timestamp (3) with time zone NOT NULL,
	"entries" bigint NOT NULL,
	"generations" jsonb NOT NULL
);
--> statement-breakpoint
UPDATE "workspaces" SET "is_observability_broadcast_enabled" = true WHERE "id" NOT IN (SELECT "workspace_id" FROM "observability_destinations");
